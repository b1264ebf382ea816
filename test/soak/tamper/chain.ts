// Every record of a long chain with every change of one record, by the service's own verifier on its way along the chain: a
// change that is found leaves it where it was, so that the right record follows. What is found later than at its record is done
// to copies of the file, sampled, and read by the service as a whole; and so are lines of an export.
import type { Database } from 'bun:sqlite'
import { randomUUID } from 'node:crypto'
import { cpSync, rmSync } from 'node:fs'
import { type AuditDetails, type Checkpoint, chainVerifier, readPublicKey } from '../../../src/audit/chain.ts'
import { exportAudit, verifyExport } from '../../../src/audit/export.ts'
import { listCheckpoints } from '../../../src/audit/store.ts'
import { disclose, verifyAudit } from '../../../src/audit/verify.ts'
import { startApp, temporaryDir } from '../../helpers/app.ts'
import { sign, withCommand } from '../../helpers/audited.ts'
import { hashOf, relinked } from '../../helpers/chain.ts'
import type { Seeded } from '../../helpers/seeded.ts'
import { allRecords, CHANGES, flippedHex, isDisclosed, type Row, replaceAll, withFile } from '../../helpers/tampering.ts'

const RECORDS = 10_000
const GROUP = 250
const SIGNED_EVERY = 1000

type Soak = { random: Seeded; violations: string[]; isOver: () => boolean }
type Chain = { dir: string; rows: Row[]; lines: string[]; checkpoints: Checkpoint[]; publicKey: string }

export async function tamperWithChain(soak: Soak): Promise<Record<string, number>> {
  const chain = await longChain()
  const counts = { records: chain.rows.length, erased: 0, records_changed: 0, changes: 0, files: 0, exports: 0 }
  counts.erased = chain.rows.filter(row => !isDisclosed(row)).length
  const { problem, count } = await withCommand(chain.dir, verifyAudit)
  if (problem || count !== chain.rows.length) soak.violations.push(`F34: the chain itself: ${JSON.stringify(problem)}`)
  await changeEachRecord(chain, soak, counts)
  do {
    await tamperWithFile(chain, soak)
    counts.files++
    await tamperWithExport(chain, soak)
    counts.exports++
  } while (!soak.isOver())
  rmSync(chain.dir, { recursive: true })
  return counts
}

/** Every tenth subject is erased again, up to the end; signed now and then, and at the end. */
async function longChain(): Promise<Chain> {
  const app = await startApp()
  const { deps } = app
  const { id: tenantId } = await app.tenant()
  const append = (action: 'verification.created' | 'verification.erased', subjectId: string, details: AuditDetails | null) =>
    deps.write(tx => deps.audit.append(tx, { at: deps.now(), tenantId, actor: 'soak', action, subjectId, details }))
  for (let made = 0; made < RECORDS; ) {
    const ids = Array.from({ length: GROUP - GROUP / 10 }, () => randomUUID())
    const seqs = await Promise.all(ids.map((id, i) => append('verification.created', id, { purpose: `number ${i}` })))
    const gone = ids.filter((_, i) => i % 9 === 0)
    await deps.write(tx =>
      deps.audit.forget(
        tx,
        gone.map(id => seqs[ids.indexOf(id)]!),
      ),
    )
    await Promise.all(gone.map(id => append('verification.erased', id, null)))
    app.clock.advance(1000)
    made += GROUP
    if (made % SIGNED_EVERY === 0) await sign(app)
  }
  await app.stop()
  const rows = withFile(app.dir, allRecords)
  return await withCommand(app.dir, async own => {
    const lines = await Array.fromAsync(exportAudit(own))
    return { dir: app.dir, rows, lines, checkpoints: await listCheckpoints(own.db), publicKey: own.audit.publicKey() }
  })
}

async function changeEachRecord(chain: Chain, { violations, isOver }: Soak, counts: Record<string, number>): Promise<void> {
  const { rows, checkpoints, publicKey } = chain
  await withCommand(chain.dir, async ({ db, sealer, sessionKeys }) => {
    const keyOf = await sessionKeys.lookUp(db, rows)
    const verifier = chainVerifier(readPublicKey(publicKey)!, checkpoints)
    const next = (row: Row) => {
      const { salt, sealed, sessionId, wrappingKey, ...record } = row
      return verifier.next(record, disclose(sealer, { ...row, id: row.seq }, keyOf(row)))
    }
    for (const [i, row] of rows.entries()) {
      if (isOver()) return
      for (const [name, forged] of forgeriesOf(rows, i)) {
        counts.changes!++
        const problem = next(forged)
        if (problem?.seq !== row.seq) violations.push(`F34 ${name} of ${row.seq}: ${JSON.stringify(problem)}`)
      }
      if (next(row)) violations.push(`F34: ${row.seq} itself is not accepted`)
      counts.records_changed!++
    }
    const { problem } = verifier.end()
    if (problem) violations.push(`F34: the whole chain is not accepted: ${JSON.stringify(problem)}`)
  })
}

/** The record at a place after a change, or after others were moved there. */
function forgeriesOf(rows: readonly Row[], i: number): [string, Row][] {
  const row = rows[i]!
  const changed = Object.entries(CHANGES).map(([name, change]): [string, Row] => [name, { ...row, ...change(row) }])
  const after = rows[i + 1]
  const other = rows[(i + 4711) % rows.length]!
  const moved: [string, Row][] = [
    ...(after
      ? ([
          ['dropped', after],
          ['dropped and moved up, or swapped', { ...after, seq: row.seq }],
        ] as [string, Row][])
      : []),
    ['another inserted', { ...other, seq: row.seq }],
    ['details of another', { ...row, salt: other.salt, sealed: other.sealed }],
  ]
  // An erased record has nothing that could be taken away, and two erased ones have the same nothing.
  return [...changed, ...moved].filter(([, forged]) => !Bun.deepEquals(forged, row) && !isOnlySilenced(row, forged))
}

/** Found at the end of the chain, when no erasure has explained it. */
const isOnlySilenced = (row: Row, { salt, sealed, ...forged }: Row): boolean =>
  salt === null && sealed === null && forged.hash === row.hash && forged.seq === row.seq && hashOf(forged) === row.hash

type Deed = { what: string; seq: number; act: (sqlite: Database) => void }

async function tamperWithFile(chain: Chain, { random, violations }: Soak): Promise<void> {
  const deeds = deedsAt(chain, 1 + random.below(chain.rows.length - 2))
  const { what, seq, act } = deeds[random.below(deeds.length)]!
  const copy = temporaryDir()
  cpSync(chain.dir, copy, { recursive: true })
  withFile(copy, sqlite => sqlite.transaction(() => act(sqlite))())
  const { problem } = await withCommand(copy, verifyAudit)
  if (problem?.seq !== seq) violations.push(`F34 in the file, ${what}: ${JSON.stringify(problem)} instead of ${seq}`)
  rmSync(copy, { recursive: true })
}

function deedsAt({ rows, checkpoints }: Chain, seq: number): Deed[] {
  const row = rows[seq - 1]!
  const signed = checkpoints.find(each => each.seq >= seq)!.seq
  const rewritten = () => relinked(rows.with(seq - 1, { ...row, actor: 'somebody else' }))
  const fitting = { ...row, previous: rows[seq - 2]?.hash ?? '0'.repeat(64), subject: flippedHex(row.subject) }
  const inserted = { ...fitting, hash: hashOf(fitting) }
  const open = rows.slice(seq - 1).find(isDisclosed) ?? rows.find(isDisclosed)!
  return [
    { what: `${seq} dropped`, seq, act: sqlite => sqlite.run('DELETE FROM audit_records WHERE seq = ?', [seq]) },
    { what: `cut from ${seq}`, seq: signed, act: sqlite => sqlite.run('DELETE FROM audit_records WHERE seq >= ?', [seq]) },
    { what: `rewritten from ${seq}`, seq: signed, act: sqlite => replaceAll(sqlite, rewritten()) },
    {
      what: `inserted before ${seq}, with a hash that fits`,
      // A signed one differs at once; elsewhere the next does not follow.
      seq: signed === seq ? seq : seq + 1,
      act: sqlite =>
        replaceAll(
          sqlite,
          rows.toSpliced(seq - 1, 0, inserted).map((each, i) => ({ ...each, seq: i + 1 })),
        ),
    },
    {
      what: `details of ${open.seq} taken away`,
      seq: open.seq,
      act: sqlite => sqlite.run('UPDATE audit_records SET salt = NULL, sealed = NULL WHERE seq = ?', [open.seq]),
    },
  ]
}

async function tamperWithExport({ lines, rows }: Chain, { random, violations }: Soak): Promise<void> {
  const seq = 1 + random.below(rows.length)
  const line = lines[seq]!
  const at = random.below(line.length)
  const flipped = String.fromCharCode(line.charCodeAt(at) ^ 1)
  const [what, forged] = [
    ['changed', lines.with(seq, line.slice(0, at) + flipped + line.slice(at + 1))],
    ['dropped', lines.toSpliced(seq, 1)],
    ['doubled', lines.toSpliced(seq, 0, line)],
  ][random.below(3)] as [string, string[]]
  const { problem } = await verifyExport(linesOf(forged))
  // One that is doubled is wrong the second time; the last one dropped is missed by its checkpoint, under the same number.
  const expected = what === 'doubled' ? seq + 1 : seq
  if (problem?.seq !== expected)
    violations.push(`F34 in an export, ${seq} ${what}: ${JSON.stringify(problem)} instead of ${expected}`)
}

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}
