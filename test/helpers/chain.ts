// The audit chain seen from outside: what a record's hash, its commitment and a checkpoint's signature are, written a second time
// and with no code of the service, so that tests can check the service and play whoever rewrites its file.
import { createHash, createPublicKey, verify } from 'node:crypto'

export type ChainRecord = {
  seq: number
  at: number
  tenantId: string
  actor: string
  action: string
  subject: string
  commitment: string
  previous: string
  hash: string
}

export type ExportLine = ChainRecord & { salt?: string; details?: Record<string, unknown> }
type ExportCheckpoint = { seq: number; at: number; hash: string; signature: string }
export type ExportHeading = { vidimus_audit: number; public_key: string; checkpoints: ExportCheckpoint[] }

const sha256 = (...parts: (string | Uint8Array)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

export const hashOf = (record: ChainRecord): string =>
  sha256(
    JSON.stringify([
      record.seq,
      record.at,
      record.tenantId,
      record.actor,
      record.action,
      record.subject,
      record.commitment,
      record.previous,
    ]),
  )

export const commitmentOf = (saltHex: string, details: unknown): string => sha256(Buffer.from(saltHex, 'hex'), canonical(details))

/** RFC 8785 for what JSON can hold: members in the order of their names' UTF-16 code units, nothing between them. */
export function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = value as Record<string, unknown>
  const names = Object.keys(members).sort((a, b) => compareUnits(a, b))
  return `{${names.map(name => `${JSON.stringify(name)}:${canonical(members[name])}`).join(',')}}`
}

function compareUnits(a: string, b: string): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = a.charCodeAt(i) - b.charCodeAt(i)
    if (difference) return difference
  }
  return a.length - b.length
}

export const checkpointTextOf = ({ seq, at, hash }: ExportCheckpoint): string =>
  ['vidimus audit checkpoint', String(seq), new Date(at).toISOString(), hash, ''].join('\n')

export function isSignedBy(publicKey: string, checkpoint: ExportCheckpoint): boolean {
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
  return verify(null, Buffer.from(checkpointTextOf(checkpoint)), key, Buffer.from(checkpoint.signature, 'base64'))
}

/** The records with every link and hash made to fit again: what someone who rewrites the file would do. */
export function relinked<Row extends ChainRecord>(records: readonly Row[]): Row[] {
  let previous = '0'.repeat(64)
  return records.map((record, i) => {
    const linked = { ...record, seq: i + 1, previous }
    previous = hashOf(linked)
    return { ...linked, hash: previous }
  })
}
