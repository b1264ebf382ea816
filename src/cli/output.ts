// How commands speak. Standard output carries the answer: for people, or with --json exactly one JSON object. Everything else, failures
// included, goes to standard error: one line that says what was wrong and what to do.
import { parseArgs } from 'node:util'
import { type Config, ConfigError, loadConfig } from '../config.ts'
import { OlderDatabase, StartRefusal } from '../db/sqlite/refusal.ts'
import type { Deps } from '../deps.ts'
import { describeFailure } from '../log.ts'
import { nearest } from './nearest.ts'

/** A wrong call: exit code 2. */
export class UsageError extends Error {}

/** A call that cannot be done: exit code 1. */
export class CommandError extends Error {}

/** Prints an answer, and is the exit code of a call that went well. */
export function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

/** What comes from the API, or from other servers, may hold any character: none may reach the terminal as a command. */
export const printable = (text: string): string => text.replace(/[^\P{C}\n]/gu, '?')

export const complain = (text: string): void => void process.stderr.write(`${text}\n`)

/** For calls that print a link: a service that was started with other settings than this call is at another address. */
export function noteAssumedAddress({ publicUrl }: Pick<Config, 'publicUrl'>): void {
  if (process.env.VIDIMUS_PUBLIC_URL?.trim() || process.env.PORT?.trim()) return
  complain(`note: the link assumes that the service is at ${publicUrl}; set VIDIMUS_PUBLIC_URL or PORT here as for the service`)
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return complainAbout(error, 2, '--help shows how to call it')
  if (error instanceof StartRefusal) return complainAbout(error, error.exitCode)
  if (error instanceof CommandError || error instanceof ConfigError || error instanceof OlderDatabase)
    return complainAbout(error, 1)
  if (isDiskFull(error)) return complainAbout(new Error('the disk is full; make room, then call this again'), 1)
  // Neither message nor trace: they quote values, and nobody can act on them. The place is what a report needs.
  return complainAbout(new Error(`it failed: ${describeFailure(error)}`), 1, 'try again, and if it stays, report this line')
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error &&
  (['SQLITE_FULL', 'ENOSPC'].includes(String((error as { code?: unknown }).code)) || isDiskFull(error.cause))

function complainAbout(error: Error, exitCode: number, hint?: string): number {
  // Messages quote what was typed: a line break or an escape sequence in it must not reach the terminal.
  complain(
    `vidimus: ${error.message.replace(/\p{Cc}+/gu, ' ')}${hint ? `${/[?.]$/.test(error.message) ? '' : ';'} ${hint}` : ''}`,
  )
  return exitCode
}

type Flags = Record<string, { type: 'string' | 'boolean'; multiple?: true }>
type Value<F extends Flags[string]> = F extends { multiple: true } ? string[] : F['type'] extends 'boolean' ? boolean : string
type Values<F extends Flags> = { [Name in keyof F]?: Value<F[Name]> }

/** The flags and words of a call; unknown flags are wrong calls. */
export function parseCall<F extends Flags>(
  args: string[],
  flags: F,
): { values: Values<F> & { json?: boolean; help?: boolean }; words: string[] } {
  const options = { ...flags, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
  try {
    const { values, positionals } = parseArgs({ args: withNegatives(args, flags), options, allowPositionals: true })
    return { values: values as Values<F> & { json?: boolean; help?: boolean }, words: positionals }
  } catch (error) {
    throw new UsageError(inPlainWords((error as Error).message, Object.keys(options)))
  }
}

/** "--daily-quota -1" is meant as a number, and told that it is too small; the parser would take it for another option. */
function withNegatives(args: string[], flags: Flags): string[] {
  const takesText = (arg: string | undefined) => flags[arg?.replace(/^--/, '') ?? '']?.type === 'string'
  return args.flatMap((arg, i) => {
    if (/^-\d/.test(arg) && takesText(args[i - 1])) return []
    return takesText(arg) && /^-\d/.test(args[i + 1] ?? '') ? [`${arg}=${args[i + 1]}`] : [arg]
  })
}

function inPlainWords(message: string, names: string[]): string {
  const [first = 'wrong call'] = message.split('\n', 1)
  const [, lacking] = /^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument (?:missing|is ambiguous)/.exec(first) ?? []
  if (lacking) return `${lacking} needs a value; one that begins with a dash is written ${lacking}=VALUE`
  const [, unknown] = /^Unknown option '--([^']*)'/.exec(first) ?? []
  const meant = unknown === undefined ? undefined : nearest(unknown, names)
  return `${first.replace(/\. To specify .*/, '')}${meant ? `; did you mean --${meant}?` : ''}`
}

type Call = { values: Record<string, unknown>; words: string[] }

/** What an act takes besides --json: its flags, and what the one word after it stands for. */
type Acts<Act extends string> = Record<Act, { flags: readonly string[]; word?: string }>

/** Which act a call asks for. A flag or word that the act would ignore is a wrong call: whoever wrote it meant something by it. */
export function actOf<Act extends string>(verb: string, { values, words }: Call, acts: Acts<Act>): { act: Act; word: string } {
  const [first, word, ...surplus] = words
  const names = Object.keys(acts) as Act[]
  const act = names.find(name => name === first)
  if (!act) {
    const meant = first === undefined ? undefined : nearest(first, names)
    if (meant) throw new UsageError(`there is no "${verb} ${first}"; did you mean ${verb} ${meant}?`)
    throw new UsageError(`say ${names.map(name => `${verb} ${name}`).join(', ')}`)
  }
  const takes = acts[act]
  const flag = Object.keys(values).find(name => name !== 'json' && !takes.flags.includes(name))
  if (flag) throw new UsageError(`${verb} ${act} takes no --${flag}`)
  const idle = takes.word ? surplus[0] : word
  if (idle !== undefined) throw new UsageError(`${verb} ${act} takes no "${idle}"`)
  return { act, word: takes.word ? required(word, takes.word) : '' }
}

export function required(value: string | undefined, flag: string): string {
  if (!value) throw new UsageError(`${flag} is missing`)
  return value
}

/** What people will read in lists: something, on one line, not too long. */
export function shortText(value: string, flag: string, charsMax: number): string {
  if ([...value].length > charsMax) throw new UsageError(`${flag}: longer than ${charsMax} characters`)
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value)) throw new UsageError(`${flag}: without line breaks or control characters, please`)
  if (/\p{Bidi_Control}/u.test(value))
    throw new UsageError(`${flag}: without characters that change the direction of text, please`)
  return value
}

export function wholeNumber(value: string, flag: string, maximum: number): number {
  if (!/^\d{1,9}$/.test(value) || Number(value) > maximum)
    throw new UsageError(`${flag}: "${value}" is not a whole number from 0 to ${maximum}`)
  return Number(value)
}

export function choice<T extends string>(value: string, allowed: readonly T[], flag: string): T {
  const chosen = allowed.find(each => each === value)
  if (!chosen) throw new UsageError(`${flag}: "${value}" is not one of ${allowed.join(', ')}`)
  return chosen
}

/** Opens the data directory beside a running server, for one short act. */
export async function withDeps<T>(act: (deps: Deps) => Promise<T>): Promise<T> {
  const { requireDatabase } = await import('./require-database.ts')
  requireDatabase(loadConfig(process.env).dataDir)
  return await withNewDeps(act)
}

/** The same for an act that may be the very first one: without a database it makes one. */
export async function withNewDeps<T>(act: (deps: Deps) => Promise<T>): Promise<T> {
  const config = loadConfig(process.env)
  // Loaded only now: help, wrong calls and the check of an export need none of it.
  const [{ createDeps }, { realWorld }] = await Promise.all([import('../deps.ts'), import('../ground.ts')])
  const deps = createDeps(config, realWorld(), 'command')
  try {
    return await act(deps)
  } finally {
    await deps.close()
  }
}

/** Columns as wide as their content. */
export function table(headings: string[], rows: string[][]): string {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map(row => row[i]?.length ?? 0)))
  return [headings, ...rows]
    .map(row =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** The actor on the audit chain for what is done at this machine's command line. */
export const ACTOR = 'command line'
