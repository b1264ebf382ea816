import { createReadStream, lstatSync, realpathSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { exportAudit, verifyExport } from '../audit/export.ts'
import { presentVerdict } from '../audit/present.ts'
import { type AuditVerdict, verifyAudit } from '../audit/verify.ts'
import type { Random } from '../base/ids.ts'
import { publish } from '../db/files.ts'
import { holdPart } from '../db/part-file.ts'
import { StartRefusal } from '../db/refusal.ts'
import type { Deps } from '../deps.ts'
import { refuseMissingKeys } from '../session-keys/keys.ts'
import { type Answer, argument, defineCommand } from './command.ts'
import { optional, text, toggle } from './flags.ts'
import { CommandError, existsAlready, type Shell, whyUnwritten } from './output.ts'
import { withDeps } from './with-deps.ts'

/** The heading is the longest: it names every checkpoint, hourly ones of many years. */
const LINE_CHARS_MAX = 64 * 1024 * 1024

export const command = defineCommand(
  {
    summary: 'verify and export the audit chain',
    subcommands: {
      verify: { flags: { file: optional(text('EXPORT'), 'verify this export, which needs neither database nor key') } },
      export: {
        argument: argument('file', 'FILE', 'the file to write'),
        flags: { force: toggle('replace a file that exists') },
      },
    },
    about: `Verifies the audit chain of the database, or of an export: every record's hash, the signed
checkpoints and the details that were not erased. An export ends with the current head, signed;
keep it elsewhere, and nothing before it can be rewritten unnoticed. Note its public key, too:
somebody who rewrites everything can sign it only with another one. A file that exists stays,
unless you say --force.`,
    example: 'vidimus audit export audit.jsonl && vidimus audit verify --file audit.jsonl',
  },
  {
    verify: async ({ file }, shell) => show(file === undefined ? await withKeys(shell, verifyAudit) : await verifyFile(file)),

    async export({ file, force }, shell) {
      await withKeys(shell, deps => writeExport(deps, file, force))
      return show(await verifyFile(file), file)
    },
  },
)

/** A record whose wrapping key is missing looks changed. */
const withKeys = <Result>(shell: Shell, work: (deps: Deps) => Promise<Result>): Promise<Result> =>
  withDeps(shell, async deps => {
    await refuseMissingKeys(deps.config.keyDir, deps.sessionKeys, deps.db)
    return await work(deps)
  })

async function verifyFile(file: string): Promise<AuditVerdict> {
  try {
    return await verifyExport(linesOf(file))
  } catch {
    throw new CommandError(`cannot read ${file}; give the path of an audit export`)
  }
}

/** Not node:readline: it also breaks lines at U+2028 and U+2029, which JSON strings may hold. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines: string[] = (rest + chunk).split(/\r?\n/)
    rest = lines.pop() ?? ''
    if (rest.length > LINE_CHARS_MAX) throw new Error('a line is too long')
    yield* lines
  }
  if (rest) yield rest
}

/** A part takes the name once it is whole. Writing into the old file would keep its mode, and a kill would leave a mixture. */
async function writeExport(deps: Deps, file: string, force: boolean): Promise<void> {
  if (!force && lstatSync(file, { throwIfNoEntry: false })) throw existsAlready(file)
  const existing = statSync(file, { throwIfNoEntry: false })
  if (existing && !existing.isFile()) throw unwritable(file)
  const target = existing ? realpathSync(file) : file
  const { part, release } = holdPartOf(target, file, deps.random)
  try {
    await fill(deps, part)
    publish(part, target, { mayReplace: force })
  } catch (error) {
    rmSync(part, { force: true })
    throw whyUnwritten(error, file)
  } finally {
    release()
  }
}

function holdPartOf(target: string, file: string, random: Random): ReturnType<typeof holdPart> {
  try {
    return holdPart(target, random)
  } catch (error) {
    throw error instanceof StartRefusal ? error : unwritable(file)
  }
}

/** For its owner only: the details are in clear text. */
async function fill(deps: Deps, part: string): Promise<void> {
  await using out = await open(part, 'wx', 0o600)
  for await (const line of exportAudit(deps)) await out.write(`${line}\n`)
}

const unwritable = (file: string) => new CommandError(`cannot write ${file}; give a path in a directory that exists and is yours`)

function show(verdict: AuditVerdict, file?: string): Answer {
  const { count, head, signedTo, publicKey, problem } = verdict
  const result = problem
    ? `The chain is broken at record ${problem.seq}: ${problem.problem}.`
    : `The chain is whole: ${count} records, head ${head}.\nSigned up to record ${signedTo}, public key ${publicKey}`
  return {
    json: { ...presentVerdict(verdict), ...(file && { file }) },
    text: file ? `${count} records written to ${file}.\n${result}` : result,
    exitCode: problem ? 1 : 0,
  }
}
