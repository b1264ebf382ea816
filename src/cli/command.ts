// A command is one table: flags and at most two arguments, or several subcommands ("key create") with their own. A handler runs
// each; it gets the values of its flags, with their types. Parsing, --help, suggestions and refusals read the table.
import { nearest } from '../base/nearest.ts'
import { parseCall, printable, type Shell, table, UsageError } from './output.ts'

type Raw = string | boolean | string[] | undefined

/** `placeholder` stands for the value in usage lines; a flag without one takes no value. */
export type Flag<T> = {
  placeholder?: string
  isRequired?: true
  isMultiple?: true
  /** White space in it does not matter. */
  help?: string
  read: (given: Raw, flag: string) => T
}

type Argument = { name: string; placeholder: string; meaning: string; isMultiple?: true; isOptional?: true }

/** Its name may end in a flag that chooses it, as in "replay --failed". */
type Subcommand = { argument?: Argument; second?: Argument; flags?: Record<string, Flag<unknown>> }

/** `summary` is the line in "vidimus --help". */
type Texts = { summary: string; about?: string; example: string }
type Table = Texts & (Subcommand | { subcommands: Record<string, Subcommand> })

/** `text` is for people, `json` for --json. `note` goes to standard error, without --json. */
export type Answer = { json: object; text: string; note?: string; exitCode?: number }

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name
type FlagsOf<A> = A extends { flags: infer F }
  ? { [Name in keyof F & string as CamelCase<Name>]: F[Name] extends Flag<infer T> ? T : never }
  : unknown
type ArgumentOf<A> = A extends { name: infer Name extends string; isMultiple: true }
  ? { [Key in Name]: string[] }
  : A extends { name: infer Name extends string; isOptional: true }
    ? { [Key in Name]: string | undefined }
    : A extends { name: infer Name extends string }
      ? { [Key in Name]: string }
      : unknown
type ArgumentsOf<A> = (A extends { argument: infer First } ? ArgumentOf<First> : unknown) &
  (A extends { second: infer Second } ? ArgumentOf<Second> : unknown)
type Given<A> = FlagsOf<A> & ArgumentsOf<A> & { json: boolean }

/** A number is the exit code of a handler that printed on its own. */
type Handler<A> = (given: Given<A>, shell: Shell) => Promise<Answer | number>
type Handlers<T> = T extends { subcommands: infer All } ? { [Name in keyof All]: Handler<All[Name]> } : Handler<T>

type AnyHandler = (given: Record<string, unknown> & { json: boolean }, shell: Shell) => Promise<Answer | number>

/** `word` is empty in a command without subcommands. `chosenBy` is the flag at the end of the name. */
type Bound = Subcommand & { word: string; chosenBy?: string; handler: AnyHandler }
export type Command = Texts & { subcommands: Bound[] }

export function defineCommand<const T extends Table>(table: T, handlers: Handlers<T>): Command {
  const subcommands: Record<string, Subcommand> = 'subcommands' in table ? table.subcommands : { '': table }
  const handlerOf = ('subcommands' in table ? handlers : { '': handlers }) as Record<string, AnyHandler>
  const bind = ([name, subcommand]: [string, Subcommand]): Bound => {
    const [word = '', chosenBy] = name.split(' --')
    return { ...subcommand, word, chosenBy, handler: handlerOf[name]! }
  }
  return { ...table, subcommands: Object.entries(subcommands).map(bind) }
}

export const argument = <Name extends string>(name: Name, placeholder: string, meaning: string) => ({
  name,
  placeholder,
  meaning,
})

export const optionalArgument = <Name extends string>(name: Name, placeholder: string, meaning: string) => ({
  ...argument(name, `[${placeholder}]`, meaning),
  isOptional: true as const,
})

/** One or more of them. */
export const argumentList = <Name extends string>(name: Name, placeholder: string, meaning: string) => ({
  ...argument(name, `${placeholder}…`, meaning),
  isMultiple: true as const,
})

/** A cell of each column for each item; `none` replaces a table without rows. */
export function listing<T>(data: T[], columns: Record<string, (item: T) => string>, none?: string): Answer {
  const rows = data.map(item => Object.values(columns).map(cellOf => cellOf(item)))
  return { json: { data }, text: none && data.length === 0 ? none : table(Object.keys(columns), rows) }
}

export async function runCommand(name: string, command: Command, args: string[], shell: Shell): Promise<number> {
  const { values, words } = parseCall(args, optionsOf(command))
  if (values.help) {
    shell.print(helpOf(name, command))
    return 0
  }
  const chosen = findSubcommand(name, command, words[0], values)
  const [call, rest] = chosen.word ? [`${name} ${chosen.word}`, words.slice(1)] : [name, words]
  const json = values.json === true
  const answer = await chosen.handler({ ...read(call, chosen, rest, values), json }, shell)
  if (typeof answer === 'number') return answer
  shell.print(json ? JSON.stringify(answer.json) : printable(answer.text))
  if (answer.note && !json) shell.complain(answer.note)
  return answer.exitCode ?? 0
}

/** The flags of all subcommands: one that the chosen one does not take gets a better message. */
function optionsOf({ subcommands }: Command) {
  const switches = subcommands.flatMap(({ chosenBy }) => (chosenBy ? [[chosenBy, { type: 'boolean' }]] : []))
  const options = subcommands.flatMap(({ flags = {} }) =>
    Object.entries(flags).map(([name, { placeholder, isMultiple }]) => [
      name,
      { type: placeholder === undefined ? 'boolean' : 'string', multiple: isMultiple ?? false },
    ]),
  )
  return Object.fromEntries([...switches, ...options])
}

type Values = Record<string, Raw>

function findSubcommand(name: string, { subcommands }: Command, word: string | undefined, values: Values): Bound {
  const candidates = subcommands.filter(each => each.word === '' || each.word === word)
  const chosen = candidates.find(({ chosenBy }) => chosenBy && values[chosenBy]) ?? candidates.find(({ chosenBy }) => !chosenBy)
  if (chosen) return chosen
  const words = [...new Set(subcommands.map(each => each.word))]
  const all = words.map(each => `${name} ${each}`).join(', ')
  if (word === undefined) throw new UsageError(`${name} needs a subcommand: ${all}`)
  const meant = nearest(word, words)
  throw new UsageError(`there is no "${name} ${word}"; ${meant ? `did you mean ${name} ${meant}?` : `choose one of ${all}`}`)
}

/** A flag or word that would be ignored is a wrong call: its writer meant something by it. */
function read(call: string, { argument, second, flags = {}, chosenBy }: Bound, words: string[], values: Values) {
  const surplusFlag = Object.keys(values).find(name => name !== 'json' && name !== chosenBy && !(name in flags))
  if (surplusFlag) throw new UsageError(`${call} takes no --${surplusFlag}`)
  const all = [argument, second].filter(each => each !== undefined)
  const surplusWord = argument?.isMultiple ? undefined : words[all.length]
  if (surplusWord !== undefined) throw new UsageError(`${call} takes no "${surplusWord}"`)
  const missing = all.find((each, i) => !words[i] && !each.isOptional)
  if (missing) throw new UsageError(`${missing.meaning} is missing`)
  const given = Object.entries(flags).map(([name, flag]) => [camelCase(name), flag.read(values[name], `--${name}`)])
  return Object.fromEntries([...all.map((each, i) => [each.name, each.isMultiple ? words : words[i]]), ...given])
}

const camelCase = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

const COLUMNS = 100

function helpOf(name: string, { subcommands, about, example }: Command): string {
  const usages = subcommands.map((each, i) => usageOf(`${i === 0 ? 'usage:' : '      '} vidimus ${name}`, each))
  const flags = Object.entries(Object.assign({}, ...subcommands.map(each => each.flags)) as NonNullable<Subcommand['flags']>)
  const explained = flags.filter(([, { help }]) => help !== undefined)
  const width = Math.max(...explained.map(([name]) => name.length))
  const flagLines = explained.map(([name, { help = '' }]) =>
    wrapped(`  --${name.padEnd(width)} `, help.split(/\s+/), ' '.repeat(width + 6)),
  )
  return [usages.join('\n'), about, flagLines.join('\n'), `example: ${example}`].filter(Boolean).join('\n\n')
}

function usageOf(beginning: string, { word, chosenBy, argument, second, flags = {} }: Bound): string {
  const call = [beginning, word, chosenBy && `--${chosenBy}`].filter(Boolean).join(' ')
  const written = Object.entries(flags).map(([name, { placeholder, isRequired }]) => {
    const flag = placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`
    return isRequired ? flag : `[${flag}]`
  })
  const places = [argument, second].flatMap(each => (each ? [each.placeholder] : []))
  return wrapped(call, [...places, ...written, '[--json]'], ' '.repeat(call.length + 1))
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
