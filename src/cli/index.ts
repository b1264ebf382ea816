import { readSync } from 'node:fs'
import { isatty } from 'node:tty'
import { nearest } from '../base/nearest.ts'
import { compileHotCode } from '../base/threads.ts'
import { type Command, runCommand } from './command.ts'
import { complain, print, reportFailure, type Shell, UsageError } from './output.ts'

const ANSWER_BYTES = 64

// Each is loaded when it is called: a short command does not wait for the server's modules.
export const COMMANDS = new Map<string, () => Promise<{ command: Command }>>(
  Object.entries({
    serve: () => import('./serve.ts'),
    demo: () => import('./demo.ts'),
    tenant: () => import('./tenant/tenant.ts'),
    key: () => import('./key.ts'),
    device: () => import('./device.ts'),
    client: () => import('./client.ts'),
    origin: () => import('./tenant/origin.ts'),
    'webhook-secret': () => import('./tenant/webhook-secret.ts'),
    deliveries: () => import('./deliveries.ts'),
    listen: () => import('./listen.ts'),
    template: () => import('./template.ts'),
    trust: () => import('./trust/trust.ts'),
    'trust source': () => import('./trust/source.ts'),
    'trust bundle': () => import('./trust/bundle.ts'),
    'trust status': () => import('./trust/status.ts'),
    signing: () => import('./signing/signing.ts'),
    registration: () => import('./signing/registration.ts'),
    tls: () => import('./tls/tls.ts'),
    user: () => import('./user.ts'),
    doctor: () => import('./doctor.ts'),
    audit: () => import('./audit.ts'),
    backup: () => import('./storage/backup.ts'),
    restore: () => import('./storage/restore.ts'),
    'erase-again': () => import('./storage/erase-again.ts'),
    rekey: () => import('./storage/rekey.ts'),
    upgrade: () => import('./storage/upgrade.ts'),
    move: () => import('./storage/move.ts'),
    openapi: () => import('./openapi.ts'),
    licences: () => import('./licences/licences.ts'),
    version: () => import('./version.ts'),
  }),
)

/** The process's own environment and streams. */
function processShell(): Shell {
  let isWatched = false
  return {
    env: process.env,
    print(text) {
      // Watched from the first line on: the stream takes milliseconds to make.
      if (!isWatched) process.stdout.once('error', endWithReader)
      isWatched = true
      print(text)
    },
    complain,
    ...(isatty(0) && isatty(2) && { confirm }),
  }
}

/** On standard error, so that an answer in JSON stays alone on standard output. */
function confirm(question: string): boolean {
  process.stderr.write(`${question} [y/N] `)
  const answer = Buffer.alloc(ANSWER_BYTES)
  return /^y(es)?$/i.test(answer.toString('utf8', 0, readSync(0, answer)).trim())
}

/** EPIPE: the reader has seen enough, as in "vidimus template list | head". */
function endWithReader({ code }: { code?: string }): never {
  if (code === 'EPIPE') process.exit(0)
  complain(`vidimus: cannot write the output (${code}); check what was done before you run this again`)
  process.exit(1)
}

/** Runs one call and returns its exit code. */
export async function run(args: string[], shell: Shell = processShell()): Promise<number> {
  try {
    const [first, ...rest] = args[0] === '--version' ? ['version', ...args.slice(1)] : args
    if (first === 'help' && rest[0] !== undefined) return await helpOn(rest.join(' '), shell)
    if (first === '--help' || first === '-h' || first === 'help') {
      shell.print(await help())
      return 0
    }
    if (first === undefined || first.startsWith('-')) return await runNamed('serve', args, shell)
    const longer = `${first} ${rest[0]}`
    return COMMANDS.has(longer) ? await runNamed(longer, rest.slice(1), shell) : await runNamed(first, rest, shell)
  } catch (error) {
    return reportFailure(error, shell.complain)
  }
}

async function runNamed(name: string, args: string[], shell: Shell): Promise<number> {
  const load = COMMANDS.get(name)
  if (!load) throw new UsageError(unknownCommand(name))
  const { command } = await load()
  // A service does it once it listens.
  if (name !== 'serve' && name !== 'demo') compileHotCode()
  return await runCommand(name, command, args, shell)
}

function unknownCommand(typed: string): string {
  const meant = nearest(typed, [...COMMANDS.keys()])
  return `there is no command "${typed.slice(0, 40)}"${meant ? `; did you mean ${meant}?` : ''}`
}

/** A page of the handbook, else the help of a command: a command may have a page of its name. */
async function helpOn(topic: string, shell: Shell): Promise<number> {
  const { pageForTerminal, readContents } = await import('../handbook/index.ts')
  const page = await pageForTerminal(topic, terminalOf(shell))
  if (page !== undefined) {
    shell.print(page)
    return 0
  }
  if (COMMANDS.has(topic)) return await runNamed(topic, ['--help'], shell)
  const topics = (await readContents()).flatMap(({ pages }) => pages.map(({ slug }) => slug))
  const meant = nearest(topic, [...topics, ...COMMANDS.keys()])
  throw new UsageError(
    `there is no page "${topic.slice(0, 40)}"${meant ? `; did you mean ${meant}?` : '; "vidimus help" lists all of them'}`,
  )
}

const terminalOf = ({ env }: Shell) => ({
  colors: process.stdout.isTTY === true && !env.NO_COLOR,
  columns: Math.min(process.stdout.columns || 100, 100),
})

async function help(): Promise<string> {
  const { readContents } = await import('../handbook/index.ts')
  const topics = (await readContents()).map(({ title, pages }) => `  ${title}: ${pages.map(({ slug }) => slug).join(', ')}`)
  const commands = await Promise.all([...COMMANDS].map(async ([name, load]) => ({ name, ...(await load()).command })))
  return `Vidimus asks digital identity wallets for verified claims.

usage: vidimus [COMMAND] [--json] [--help] [--version]

${commands.map(({ name, summary }) => `  ${name.padEnd(16)}${summary}`).join('\n')}

Every command explains itself with --help. All of them work beside a running server, except
restore, rekey, upgrade and move, which need it stopped.

"vidimus help PAGE" prints a page of the handbook; the service shows them at /docs:

${topics.join('\n')}

example: vidimus tenant create --name "Corner shop"`
}
