// Standard output carries the answer: for people, or with --json exactly one JSON object. Failures
// and notes go to standard error. A failure is one line that says what was wrong and what to do.
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { describeFailure } from '../base/log.ts'
import { nearest } from '../base/nearest.ts'
import { ConfigError } from '../config.ts'
import { OlderDatabase, StartRefusal } from '../db/refusal.ts'
import { PortRefusal } from '../service/refusal.ts'

/** The settings of a call, and the two streams it writes lines to. */
export type Shell = {
  env: Record<string, string | undefined>
  print: (text: string) => void
  complain: (text: string) => void
  /** Asks whoever sits at the terminal; absent where nobody does. */
  confirm?: (question: string) => boolean
}

/** A wrong call: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** A call that cannot be carried out: exit code 1. */
export class CommandError extends Error {
  override name = 'CommandError'
}

/** A file that a call was to write, and does not replace. */
export const existsAlready = (file: string, force = false): CommandError =>
  new CommandError(`${file} exists already; choose another name${force ? '' : ', or replace it with --force'}`)

/** Why a new file was not written, where that is known by its code; otherwise the error as it is. */
export function whyUnwritten(error: unknown, file: string): unknown {
  const { code } = error as { code?: unknown }
  if (code === 'EEXIST') return existsAlready(file)
  return code === 'ENOSPC' ? new CommandError(`the disk of ${file} is full; make room there, or choose another`) : error
}

/** Prints an answer, and returns the exit code of success. */
export function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

export const complain = (text: string): void => void process.stderr.write(`${text}\n`)

/** Keeps control characters of names and of other servers' answers from the terminal. */
export const printable = (text: string): string => text.replace(/[^\P{C}\n\u200d]/gu, '?')

/** A note beside a printed link: a service with other settings is at another address. */
export function noteAssumedAddress({ env, complain }: Shell, { publicUrl }: { publicUrl: string }): void {
  if (env.VIDIMUS_PUBLIC_URL?.trim() || env.PORT?.trim()) return
  complain(`note: the link assumes that the service is at ${publicUrl}; set VIDIMUS_PUBLIC_URL or PORT here as for the service`)
}

/** Their messages say what to do. */
const REFUSALS = [CommandError, ConfigError, OlderDatabase, PortRefusal]

/** Prints why a call failed, and returns its exit code. */
export function reportFailure(error: unknown, complain: Shell['complain']): number {
  // Messages quote the call, which may contain line breaks and escape sequences.
  const report = (message: string, exitCode: number) => {
    complain(`vidimus: ${printable(message.replace(/\p{Cc}+/gu, ' '))}`)
    return exitCode
  }
  if (error instanceof UsageError)
    return report(`${error.message}${/[?.]$/.test(error.message) ? '' : ';'} --help shows how to call it`, 2)
  if (error instanceof StartRefusal) return report(error.message, error.exitCode)
  if (REFUSALS.some(each => error instanceof each)) return report((error as Error).message, 1)
  if (isDiskFull(error)) return report('the disk is full; make room, then call this again', 1)
  // No message or trace: they quote values, and a report needs only the place.
  return report(`unexpected error: ${describeFailure(error)}; if it happens again, report this line`, 1)
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error &&
  (['SQLITE_FULL', 'ENOSPC'].includes(String((error as { code?: unknown }).code)) || isDiskFull(error.cause))

type Flags = Record<string, { type: 'string' | 'boolean'; multiple?: true }>
type Value<F extends Flags[string]> = F extends { multiple: true } ? string[] : F['type'] extends 'boolean' ? boolean : string
type Values<F extends Flags> = { [Name in keyof F]?: Value<F[Name]> }

/** The flags and words of a call. An unknown flag is a UsageError with a suggestion. */
export function parseCall<F extends Flags>(
  args: string[],
  flags: F,
): { values: Values<F> & { json?: boolean; help?: boolean }; words: string[] } {
  const options = { ...flags, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
  try {
    const { values, positionals, tokens } = parseArgs({
      args: withNegatives(args, flags),
      options,
      allowPositionals: true,
      tokens: true,
    })
    refuseTwice(tokens, flags)
    return { values: values as Values<F> & { json?: boolean; help?: boolean }, words: positionals }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(messageFor((error as Error).message, Object.keys(options)))
  }
}

/** The parser would keep the last value and drop the others. */
function refuseTwice(tokens: { kind: string; name?: string }[], flags: Flags): void {
  const names = tokens.flatMap(({ kind, name = '' }) => (kind === 'option' ? [name] : []))
  const twice = names.find((name, i) => flags[name]?.type === 'string' && !flags[name].multiple && names.indexOf(name) !== i)
  if (twice !== undefined) throw new UsageError(`--${twice} is given twice; give it once`)
}

/** The parser takes the -1 of "--daily-quota -1" for an option. As a value, it is too small. */
function withNegatives(args: string[], flags: Flags): string[] {
  const takesText = (arg: string | undefined) => flags[arg?.replace(/^--/, '') ?? '']?.type === 'string'
  return args.flatMap((arg, i) => {
    if (/^-\d/.test(arg) && takesText(args[i - 1])) return []
    return takesText(arg) && /^-\d/.test(args[i + 1] ?? '') ? [`${arg}=${args[i + 1]}`] : [arg]
  })
}

function messageFor(message: string, names: string[]): string {
  const [first = 'wrong call'] = message.split('\n', 1)
  const [, lacking] = /^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument (?:missing|is ambiguous)/.exec(first) ?? []
  if (lacking) return `${lacking} needs a value; one that begins with a dash is written ${lacking}=VALUE`
  const [, unknown] = /^Unknown option '--([^']*)'/.exec(first) ?? []
  const meant = unknown === undefined ? undefined : nearest(unknown, names)
  return `${first.replace(/\. To specify .*/, '')}${meant ? `; did you mean --${meant}?` : ''}`
}

export function wholeNumber(value: string, flag: string, maximum: number, minimum = 0): number {
  if (!/^\d{1,9}$/.test(value) || Number(value) > maximum || Number(value) < minimum)
    throw new UsageError(`${flag}: "${value}" is not a whole number from ${minimum} to ${maximum}`)
  return Number(value)
}

export function table(headings: string[], rows: string[][]): string {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map(row => row[i]?.length ?? 0)))
  const lineOf = (row: string[]) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')
  return [headings, ...rows].map(row => lineOf(row).trimEnd()).join('\n')
}

const ID_PROGRAMS = ['/usr/bin/id', '/bin/id']
const ID_MS_MAX = 1000

/**
 * The name of the user that this process runs as. Never from a variable of the environment, which
 * anybody can set, and cron leaves out: the runtime's own `userInfo().username` is `$USER`.
 */
export function systemUser(uid: number | undefined, { passwd = '/etc/passwd', programs = ID_PROGRAMS } = {}): string {
  if (uid === undefined) return 'unknown'
  return nameIn(passwd, uid) ?? nameBy(programs.find(existsSync), uid) ?? `uid ${uid}`
}

function nameIn(passwd: string, uid: number): string | undefined {
  // passwd(5): the third field is the number. A number in two lines is its first name, as for getpwuid(3).
  const lines = existsSync(passwd) ? readFileSync(passwd, 'utf8').split('\n') : []
  return userName(lines.map(line => line.split(':')).find(([, , number]) => number === String(uid))?.[0])
}

/** Users of a directory service are in no file. */
function nameBy(program: string | undefined, uid: number): string | undefined {
  if (program === undefined) return undefined
  const { success, stdout } = Bun.spawnSync([program, '-un', String(uid)], { env: {}, timeout: ID_MS_MAX, stderr: 'ignore' })
  return success ? userName(stdout.toString().trim()) : undefined
}

const userName = (name: string | undefined): string | undefined =>
  name !== undefined && /^[^\s\p{Cc}\p{Cf}]{1,64}$/u.test(name) ? name : undefined

/** The actor of audit records that commands write, with the user of the operating system. */
export const ACTOR = `command line:${systemUser(process.getuid?.())}`
