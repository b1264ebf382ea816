// A verb is one table and one handler for each of its acts. Parsing, --help, suggestions and
// refusals read the table. A handler gets the flags that its act declares, with their types.
import { nearest } from './nearest.ts'
import { parseCall, printable, type Shell, table, UsageError } from './output.ts'

type Raw = string | boolean | string[] | undefined

/** A flag without a form takes no value. */
export type Flag<T> = {
  form?: string
  isRequired?: true
  isMultiple?: true
  /** White space in it does not matter. */
  help?: string
  read: (given: Raw, flag: string) => T
}

type Argument = { name: string; form: string; meaning: string }

/** The name of an act may end in a flag that chooses it, as in "replay --failed". */
type Act = { argument?: Argument; flags?: Record<string, Flag<unknown>> }

/** `summary` is the line in "vidimus --help". */
type Texts = { summary: string; about?: string; example: string }
type Table = Texts & (Act | { acts: Record<string, Act> })

/** `text` is for people, `json` for --json. `note` goes to standard error, without --json. */
export type Answer = { json: object; text: string; note?: string; exitCode?: number }

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name
type FlagsOf<A> = A extends { flags: infer F }
  ? { [Name in keyof F & string as CamelCase<Name>]: F[Name] extends Flag<infer T> ? T : never }
  : unknown
type ArgumentOf<A> = A extends { argument: { name: infer Name extends string } } ? { [Key in Name]: string } : unknown
type Given<A> = FlagsOf<A> & ArgumentOf<A> & { json: boolean }

/** A number is the exit code of a handler that printed on its own. */
type Handler<A> = (given: Given<A>, shell: Shell) => Promise<Answer | number>
type Handlers<T> = T extends { acts: infer Acts } ? { [Name in keyof Acts]: Handler<Acts[Name]> } : Handler<T>

type AnyHandler = (given: Record<string, unknown> & { json: boolean }, shell: Shell) => Promise<Answer | number>
export type Command = Texts & { acts: Map<string, Act & { handler: AnyHandler }> }

export function defineCommand<const T extends Table>(table: T, handlers: Handlers<T>): Command {
  const { summary, about, example } = table
  const acts: Record<string, Act> = 'acts' in table ? table.acts : { '': table }
  const handlerOf = (name: string) => ('acts' in table ? (handlers as Record<string, AnyHandler>)[name] : handlers) as AnyHandler
  const entries = Object.entries(acts).map(([name, act]) => [name, { ...act, handler: handlerOf(name) }] as const)
  return { summary, about, example, acts: new Map(entries) }
}

export const argument = <Name extends string>(name: Name, form: string, meaning: string) => ({ name, form, meaning })

/** A cell of each column for each item; `none` replaces a table without rows. */
export function listing<T>(data: T[], columns: Record<string, (item: T) => string>, none?: string): Answer {
  const rows = data.map(item => Object.values(columns).map(cellOf => cellOf(item)))
  return { json: { data }, text: none && data.length === 0 ? none : table(Object.keys(columns), rows) }
}

export async function runCommand(verb: string, command: Command, args: string[], shell: Shell): Promise<number> {
  const { values, words } = parseCall(args, optionsOf(command))
  if (values.help) {
    shell.print(helpOf(verb, command))
    return 0
  }
  const { act, rest } = findAct(verb, command, words, values)
  const given = { ...readCall(act, rest, values), json: values.json === true }
  const answer = await act.handler(given, shell)
  if (typeof answer === 'number') return answer
  shell.print(given.json ? JSON.stringify(answer.json) : printable(answer.text))
  if (answer.note && !given.json) shell.complain(answer.note)
  return answer.exitCode ?? 0
}

function optionsOf({ acts }: Command) {
  const flags = [...acts.values()].flatMap(act => Object.entries(act.flags ?? {}))
  const switches = [...acts.keys()].flatMap(name => switchOf(name) ?? []).map(flag => [flag, { type: 'boolean' as const }])
  const options = flags.map(([name, { form, isMultiple }]) => [
    name,
    { type: form === undefined ? ('boolean' as const) : ('string' as const), ...(isMultiple && { multiple: true as const }) },
  ])
  return Object.fromEntries([...switches, ...options])
}

const switchOf = (act: string): string | undefined => /--(.*)$/.exec(act)?.[1]
const wordOf = (act: string): string => act.replace(/ --.*$/, '')

type Values = Record<string, Raw>
type Found = Act & { handler: AnyHandler; call: string; switch: string | undefined }

function findAct(verb: string, { acts }: Command, words: string[], values: Values): { act: Found; rest: string[] } {
  const alone = acts.get('')
  if (alone) return { act: { ...alone, call: verb, switch: undefined }, rest: words }
  const [first, ...rest] = words
  const candidates = [...acts].filter(([name]) => wordOf(name) === first)
  const chosen =
    candidates.find(([name]) => values[switchOf(name) ?? ''] === true) ?? candidates.find(([name]) => !switchOf(name))
  if (!chosen) throw new UsageError(unknownAct(verb, first, [...new Set([...acts.keys()].map(wordOf))]))
  const [name, act] = chosen
  return { act: { ...act, call: `${verb} ${wordOf(name)}`, switch: switchOf(name) }, rest }
}

function unknownAct(verb: string, given: string | undefined, names: string[]): string {
  const all = names.map(name => `${verb} ${name}`).join(', ')
  if (given === undefined) return `${verb} needs to know what to do: ${all}`
  const meant = nearest(given, names)
  return `there is no "${verb} ${given}"; ${meant ? `did you mean ${verb} ${meant}?` : `choose one of ${all}`}`
}

/** A flag or word that the act would ignore is a wrong call: its writer meant something by it. */
function readCall({ argument, flags = {}, call, switch: own }: Found, words: string[], values: Values): Record<string, unknown> {
  const surplusFlag = Object.keys(values).find(name => name !== 'json' && name !== own && !(name in flags))
  if (surplusFlag) throw new UsageError(`${call} takes no --${surplusFlag}`)
  const surplusWord = words[argument ? 1 : 0]
  if (surplusWord !== undefined) throw new UsageError(`${call} takes no "${surplusWord}"`)
  if (argument && !words[0]) throw new UsageError(`${argument.meaning} is missing`)
  const read = Object.entries(flags).map(([name, flag]) => [camelCase(name), flag.read(values[name], `--${name}`)])
  return Object.fromEntries(argument ? [[argument.name, words[0]], ...read] : read)
}

const camelCase = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

const COLUMNS = 100

export function helpOf(verb: string, { acts, about, example }: Command): string {
  const usages = [...acts].map(([name, act], i) =>
    usageOf(`${i === 0 ? 'usage:' : '      '} vidimus ${verb} ${name}`.trimEnd(), act),
  )
  const flags = new Map([...acts.values()].flatMap(act => Object.entries(act.flags ?? {})))
  const explained = [...flags].filter(([, { help }]) => help !== undefined)
  const width = Math.max(...explained.map(([name]) => name.length))
  const flagLines = explained.map(([name, { help = '' }]) =>
    wrapped(`  --${name.padEnd(width)} `, help.split(/\s+/), ' '.repeat(width + 6)),
  )
  return [usages.join('\n'), about, flagLines.join('\n'), `example: ${example}`].filter(Boolean).join('\n\n')
}

function usageOf(call: string, { argument, flags = {} }: Act): string {
  const forms = Object.entries(flags).map(([name, { form, isRequired }]) => {
    const written = form === undefined ? `--${name}` : `--${name} ${form}`
    return isRequired ? written : `[${written}]`
  })
  return wrapped(call, [...(argument ? [argument.form] : []), ...forms, '[--json]'], ' '.repeat(call.length + 1))
}

/** Lines of up to 100 columns; all but the first are indented. */
function wrapped(start: string, pieces: string[], indent: string): string {
  const lines: string[] = [start]
  for (const piece of pieces) {
    const last = lines.at(-1) ?? ''
    if (last.length + 1 + piece.length <= COLUMNS) lines[lines.length - 1] = `${last} ${piece}`
    else lines.push(indent + piece)
  }
  return lines.join('\n')
}
