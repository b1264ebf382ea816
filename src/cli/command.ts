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

/** The one act of a verb without acts has no word. `chosenBy` is the flag at the end of its name. */
type BoundAct = Act & { word: string; chosenBy?: string; handler: AnyHandler }
export type Command = Texts & { acts: BoundAct[] }

export function defineCommand<const T extends Table>(table: T, handlers: Handlers<T>): Command {
  const acts: Record<string, Act> = 'acts' in table ? table.acts : { '': table }
  const handlerOf = ('acts' in table ? handlers : { '': handlers }) as Record<string, AnyHandler>
  const bind = ([name, act]: [string, Act]): BoundAct => {
    const [word = '', chosenBy] = name.split(' --')
    return { ...act, word, chosenBy, handler: handlerOf[name]! }
  }
  return { ...table, acts: Object.entries(acts).map(bind) }
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
  const act = findAct(verb, command, words[0], values)
  const [call, rest] = act.word ? [`${verb} ${act.word}`, words.slice(1)] : [verb, words]
  const json = values.json === true
  const answer = await act.handler({ ...read(call, act, rest, values), json }, shell)
  if (typeof answer === 'number') return answer
  shell.print(json ? JSON.stringify(answer.json) : printable(answer.text))
  if (answer.note && !json) shell.complain(answer.note)
  return answer.exitCode ?? 0
}

/** The flags of all acts: one that the chosen act does not take is refused with a better message. */
function optionsOf({ acts }: Command) {
  const switches = acts.flatMap(({ chosenBy }) => (chosenBy ? [[chosenBy, { type: 'boolean' }]] : []))
  const options = acts.flatMap(({ flags = {} }) =>
    Object.entries(flags).map(([name, { form, isMultiple }]) => [
      name,
      { type: form === undefined ? 'boolean' : 'string', multiple: isMultiple ?? false },
    ]),
  )
  return Object.fromEntries([...switches, ...options])
}

type Values = Record<string, Raw>

function findAct(verb: string, { acts }: Command, word: string | undefined, values: Values): BoundAct {
  const candidates = acts.filter(act => act.word === '' || act.word === word)
  const chosen = candidates.find(({ chosenBy }) => chosenBy && values[chosenBy]) ?? candidates.find(({ chosenBy }) => !chosenBy)
  if (chosen) return chosen
  const names = [...new Set(acts.map(act => act.word))]
  const all = names.map(name => `${verb} ${name}`).join(', ')
  if (word === undefined) throw new UsageError(`${verb} needs to know what to do: ${all}`)
  const meant = nearest(word, names)
  throw new UsageError(`there is no "${verb} ${word}"; ${meant ? `did you mean ${verb} ${meant}?` : `choose one of ${all}`}`)
}

/** A flag or word that the act would ignore is a wrong call: its writer meant something by it. */
function read(call: string, { argument, flags = {}, chosenBy }: BoundAct, words: string[], values: Values) {
  const surplusFlag = Object.keys(values).find(name => name !== 'json' && name !== chosenBy && !(name in flags))
  if (surplusFlag) throw new UsageError(`${call} takes no --${surplusFlag}`)
  const surplusWord = words[argument ? 1 : 0]
  if (surplusWord !== undefined) throw new UsageError(`${call} takes no "${surplusWord}"`)
  if (argument && !words[0]) throw new UsageError(`${argument.meaning} is missing`)
  const given = Object.entries(flags).map(([name, flag]) => [camelCase(name), flag.read(values[name], `--${name}`)])
  return Object.fromEntries(argument ? [[argument.name, words[0]], ...given] : given)
}

const camelCase = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

const COLUMNS = 100

function helpOf(verb: string, { acts, about, example }: Command): string {
  const usages = acts.map((act, i) => usageOf(`${i === 0 ? 'usage:' : '      '} vidimus ${verb}`, act))
  const flags = Object.entries(Object.assign({}, ...acts.map(act => act.flags)) as NonNullable<Act['flags']>)
  const explained = flags.filter(([, { help }]) => help !== undefined)
  const width = Math.max(...explained.map(([name]) => name.length))
  const flagLines = explained.map(([name, { help = '' }]) =>
    wrapped(`  --${name.padEnd(width)} `, help.split(/\s+/), ' '.repeat(width + 6)),
  )
  return [usages.join('\n'), about, flagLines.join('\n'), `example: ${example}`].filter(Boolean).join('\n\n')
}

function usageOf(beginning: string, { word, chosenBy, argument, flags = {} }: BoundAct): string {
  const call = [beginning, word, chosenBy && `--${chosenBy}`].filter(Boolean).join(' ')
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
