// The audit chain, computed a second time: what a record's hash and a checkpoint's text are is written here anew, from their description.
import type { Database } from 'bun:sqlite'
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { type Checked, countOf, named } from './checked.ts'

type ChainRow = {
  seq: number
  at: number
  tenant_id: string
  actor: string
  action: string
  subject: string
  commitment: string
  previous: string
  hash: string
  has_salt: number
  has_details: number
}

type Checkpoint = { seq: number; at: number; hash: string; signature: string }

/** Sessions according to the chain. */
export type ChainStory = {
  /** Creations, and those of them that were erased since, by tenant and UTC day. */
  created: Map<string, number>
  erased: Map<string, number>
  erasures: { subject: string; at: number }[]
}

const NO_RECORD = '0'.repeat(64)

export const dayOf = (tenant: string, at: number): string => `${tenant} ${new Date(at).toISOString().slice(0, 10)}`

export function checkChain(sqlite: Database, publicKey: string | undefined): { checked: Checked; story: ChainStory } {
  const problems = new Map<string, string[]>()
  const note = (problem: string, seq: number) => {
    const seqs = problems.get(problem) ?? []
    seqs.push(`record ${seq}`)
    problems.set(problem, seqs)
  }
  const story: ChainStory = { created: new Map(), erased: new Map(), erasures: [] }
  const dayOfSubject = new Map<string, string>()
  const silent = new Map<string, number>()
  const open = new Map<string, number>()
  const checkpointsDue = checkpointReader(sqlite, publicKey, note)
  let expected = 1
  let previous = NO_RECORD
  for (const row of records(sqlite)) {
    if (row.seq !== expected) note('a record is missing or out of order', expected)
    if (row.previous !== previous) note('a record does not follow the one before it', row.seq)
    if (row.hash !== hashOf(row)) note("a record's hash does not match its fields", row.seq)
    if (row.has_salt !== row.has_details) note('a record has details without salt, or salt without details', row.seq)
    checkpointsDue.compare(row)
    const isErasure = row.action === 'verification.erased'
    if (isErasure && open.has(row.subject)) note('an erasure left details of its subject', open.get(row.subject) ?? 0)
    if (isErasure) {
      silent.delete(row.subject)
      story.erasures.push({ subject: row.subject, at: row.at })
      const day = dayOfSubject.get(row.subject)
      if (day === undefined) note('an erasure of what was never created, or was erased before', row.seq)
      else story.erased.set(day, (story.erased.get(day) ?? 0) + 1)
      dayOfSubject.delete(row.subject)
    } else if (!row.has_details && !silent.has(row.subject)) silent.set(row.subject, row.seq)
    if (row.action === 'verification.created') {
      const day = dayOf(row.tenant_id, row.at)
      dayOfSubject.set(row.subject, day)
      story.created.set(day, (story.created.get(day) ?? 0) + 1)
    }
    if (row.has_details && row.action.startsWith('verification.')) open.set(row.subject, row.seq)
    expected = row.seq + 1
    previous = row.hash
  }
  for (const seq of silent.values()) note('details are gone, and no erasure explains it', seq)
  for (const seq of checkpointsDue.missing()) note('a signed checkpoint names a record that is not there', seq)
  const violations = [...problems].flatMap(([problem, seqs]) => named(problem, seqs))
  const checkpoints = countOf(sqlite, 'audit_checkpoints')
  const counts = { audit_records: expected - 1, checkpoints, signatures: publicKey === undefined ? 0 : checkpoints }
  return { checked: { name: 'I5', what: 'the audit chain verifies', violations, counts }, story }
}

const records = (sqlite: Database): Iterable<ChainRow> =>
  sqlite
    .query<ChainRow, []>(
      `SELECT seq, at, tenant_id, actor, action, subject, commitment, previous, hash,
         salt IS NOT NULL AS has_salt, sealed IS NOT NULL AS has_details FROM audit_records ORDER BY seq`,
    )
    .iterate()

const hashOf = ({ seq, at, tenant_id, actor, action, subject, commitment, previous }: ChainRow): string =>
  createHash('sha256')
    .update(JSON.stringify([seq, at, tenant_id, actor, action, subject, commitment, previous]))
    .digest('hex')

type Note = (problem: string, seq: number) => void

function checkpointReader(sqlite: Database, publicKey: string | undefined, note: Note) {
  const due = new Map(
    sqlite
      .query<Checkpoint, []>('SELECT seq, at, hash, signature FROM audit_checkpoints')
      .all()
      .map(each => [each.seq, each]),
  )
  const key = publicKey && createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
  const compare = ({ seq, hash }: ChainRow) => {
    const checkpoint = due.get(seq)
    if (!checkpoint) return
    due.delete(seq)
    if (checkpoint.hash !== hash) note('a record differs from its signed checkpoint', seq)
    if (key && !isSigned(checkpoint, key)) note("a checkpoint's signature is not valid", seq)
  }
  return { compare, missing: () => [...due.keys()] }
}

function isSigned({ seq, at, hash, signature }: Checkpoint, key: KeyObject): boolean {
  const text = ['vidimus audit checkpoint', seq, new Date(at).toISOString(), hash, ''].join('\n')
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'))
}
