import { createReadStream, realpathSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { exportAudit, verifyExport } from '../audit/export.ts'
import { type AuditVerdict, verifyAudit } from '../audit/verify.ts'
import { publish } from '../db/sqlite/files.ts'
import type { Deps } from '../deps.ts'
import { actOf, CommandError, parseCall, print, withDeps } from './output.ts'

const HELP = `usage: vidimus audit verify [--file EXPORT] [--json]
       vidimus audit export FILE [--force] [--json]

Verifies the chain of the database, or of an export, which needs neither database nor key. Every record's hash, the signed checkpoints and
the details that were not erased are checked. An export ends with the current head signed; keep it elsewhere, and nothing before it can be
rewritten unnoticed. Note its public key, too: whoever rewrites everything can sign it only with another one. A file that is there already stays,
unless you say --force.

example: vidimus audit export audit.jsonl && vidimus audit verify --file audit.jsonl`

/** The heading is the longest: it names every checkpoint, hourly ones of many years. */
const LINE_CHARS_MAX = 64 * 1024 * 1024

const ACTS = {
  verify: { flags: ['file'] },
  export: { flags: ['force'], word: 'the file to write' },
} as const

export async function runAudit(args: string[]): Promise<number> {
  const call = parseCall(args, { file: { type: 'string' }, force: { type: 'boolean' } })
  const { help, json, file, force } = call.values
  if (help) return print(HELP)
  const { act, word } = actOf('audit', call, ACTS)
  switch (act) {
    case 'verify':
      return report(file === undefined ? await withDeps(verifyAudit) : await verifyFile(file), json)
    case 'export':
      await exportTo(word, force)
      return report(await verifyFile(word), json, word)
  }
}

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

async function exportTo(file: string, force = false): Promise<void> {
  await withDeps(deps => (force ? replaceBy(deps, file) : writeTo(deps, file)))
}

/** Beside it first: a file that is written over keeps its mode, and whoever has it open reads on. */
async function replaceBy(deps: Deps, file: string): Promise<void> {
  const there = statSync(file, { throwIfNoEntry: false })
  if (there && !there.isFile()) throw unwritable(file)
  const target = there ? realpathSync(file) : file
  const part = `${target}.${process.pid}.part`
  try {
    await writeTo(deps, part)
    publish(part, target)
  } catch (error) {
    rmSync(part, { force: true })
    throw error instanceof CommandError ? unwritable(file) : error
  }
}

async function writeTo(deps: Deps, file: string): Promise<void> {
  const out = await openToWrite(file)
  try {
    for await (const line of exportAudit(deps)) await out.write(`${line}\n`)
  } finally {
    await out.close()
  }
}

/** For nobody else's eyes: the details stand there in clear. */
async function openToWrite(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600)
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST')
      throw new CommandError(`${file} is there already; choose another name, or replace it with --force`)
    throw unwritable(file)
  }
}

const unwritable = (file: string) => new CommandError(`cannot write ${file}; give a path in a directory that exists and is yours`)

function report({ count, head, signedTo, publicKey, problem }: AuditVerdict, json = false, file?: string): number {
  if (json) {
    const place = problem && { broken_at: problem.seq, problem: problem.problem }
    print(
      JSON.stringify({ ok: !problem, count, head, signed_to: signedTo, public_key: publicKey, ...(file && { file }), ...place }),
    )
  } else {
    if (file) print(`${count} records written to ${file}.`)
    if (problem) print(`The chain is broken at record ${problem.seq}: ${problem.problem}.`)
    else print(`The chain is whole: ${count} records, head ${head}.\nSigned up to record ${signedTo}, public key ${publicKey}`)
  }
  return problem ? 1 : 0
}
