import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { exportAudit, verifyExport } from '../audit/export.ts'
import { type AuditVerdict, verifyAudit } from '../audit/verify.ts'
import { CommandError, parseCall, print, required, UsageError, withDeps } from './output.ts'

const HELP = `usage: vidimus audit verify [--file EXPORT] [--json]
       vidimus audit export FILE [--json]

Verifies the chain of the database, or of an export, which needs neither database nor key. Every record's hash, the signed checkpoints and
the details that were not erased are checked. An export ends with the current head signed; keep it elsewhere, and nothing before it can be
rewritten unnoticed.

example: vidimus audit export audit.jsonl && vidimus audit verify --file audit.jsonl`

export async function runAudit(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, { file: { type: 'string' } })
  if (values.help) return print(HELP)
  const [act, file] = words
  switch (act) {
    case 'verify':
      return report(values.file === undefined ? await withDeps(verifyAudit) : await verifyFile(values.file), values.json)
    case 'export':
      return await exportTo(required(file, 'the file to write'), values.json)
    default:
      throw new UsageError('say audit verify or audit export')
  }
}

async function verifyFile(file: string): Promise<AuditVerdict> {
  try {
    return await verifyExport(createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY }))
  } catch {
    throw new CommandError(`cannot read ${file}; give the path of an audit export`)
  }
}

function report({ count, head, problem }: AuditVerdict, json = false): number {
  const place = problem && { broken_at: problem.seq, problem: problem.problem }
  if (json) print(JSON.stringify({ ok: !problem, count, head, ...place }))
  else if (problem) print(`The chain is broken at record ${problem.seq}: ${problem.problem}.`)
  else print(`The chain is whole: ${count} records, head ${head}.`)
  return problem ? 1 : 0
}

async function exportTo(file: string, json = false): Promise<number> {
  const count = await withDeps(async deps => {
    // Signed first, so that the export is fixed up to its last record.
    await deps.write(tx => deps.audit.checkpoint(tx, deps.now()))
    const out = createWriteStream(file, { mode: 0o600 })
    const done = finished(out)
    let lines = 0
    for await (const line of exportAudit(deps)) {
      lines++
      if (!out.write(`${line}\n`)) await new Promise(resolve => out.once('drain', resolve))
    }
    out.end()
    await done
    return lines - 1
  })
  print(json ? JSON.stringify({ file, count }) : `${count} records written to ${file}.`)
  return 0
}
