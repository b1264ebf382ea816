// The audit chain. Each record's hash covers the record before it and a salted commitment to its details; the details themselves, and the
// salt, sit beside the chain and can be erased without breaking it. Signed checkpoints fix the past: what is older than the last checkpoint
// somebody holds cannot be rewritten unnoticed; what is newer can, by whoever has the file and the master key.
import { createPrivateKey, createPublicKey, sign as ed25519Sign, verify as ed25519Verify, type KeyObject } from 'node:crypto'
import { canonicalJson, hmacSha256, sha256Hex } from '../hash.ts'
import { isoUtc } from '../time.ts'

export type AuditAction =
  | 'tenant.created'
  | 'tenant.changed'
  | 'key.created'
  | 'key.revoked'
  | 'key.rolled'
  | 'template.saved'
  | 'template.deleted'
  | 'verification.created'
  | 'verification.erased'

export type AuditRecord = {
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

export type AuditDetails = Record<string, unknown>

export type Checkpoint = { seq: number; at: number; hash: string; signature: string }

export const GENESIS = '0'.repeat(64)

export const subjectOf = (auditKey: Uint8Array, id: string): string => hmacSha256(auditKey, id).toString('hex')

export const commitmentTo = (salt: Uint8Array, details: AuditDetails): string =>
  sha256Hex(Buffer.concat([salt, Buffer.from(canonicalJson(details))]))

export const recordHash = ({
  seq,
  at,
  tenantId,
  actor,
  action,
  subject,
  commitment,
  previous,
}: Omit<AuditRecord, 'hash'>): string =>
  sha256Hex(JSON.stringify([seq, at, tenantId, actor, action, subject, commitment, previous]))

export function checkpointKeys(seed: Uint8Array): { privateKey: KeyObject; publicKey: string } {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  return { privateKey, publicKey: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64') }
}

export const signCheckpoint = (privateKey: KeyObject, head: Omit<Checkpoint, 'signature'>): string =>
  ed25519Sign(null, Buffer.from(checkpointText(head)), privateKey).toString('base64')

const checkpointText = ({ seq, at, hash }: Omit<Checkpoint, 'signature'>): string =>
  `vidimus audit checkpoint\n${seq}\n${isoUtc(at)}\n${hash}\n`

export type ChainProblem = { seq: number; problem: string }

/** Feed it records in order; it keeps only the head, so a chain of any length can be checked. */
export function chainVerifier(publicKey: string, checkpoints: Iterable<Checkpoint>) {
  const expected = new Map<number, Checkpoint>()
  for (const checkpoint of checkpoints) expected.set(checkpoint.seq, checkpoint)
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
  let count = 0
  let head = GENESIS

  return {
    /** `disclosed` is absent for an erased subject. */
    next(record: AuditRecord, disclosed?: { salt: Uint8Array; details: AuditDetails }): ChainProblem | undefined {
      const fault = (problem: string) => ({ seq: record.seq, problem })
      if (record.seq !== count + 1) return fault(`record ${count + 1} is missing or out of order`)
      if (record.previous !== head) return fault('it does not follow the record before it')
      if (recordHash(record) !== record.hash) return fault('its hash does not match its fields')
      if (disclosed && commitmentTo(disclosed.salt, disclosed.details) !== record.commitment)
        return fault('its details were changed')
      const checkpoint = expected.get(record.seq)
      if (checkpoint) {
        if (checkpoint.hash !== record.hash) return fault('it differs from the signed checkpoint')
        if (!ed25519Verify(null, Buffer.from(checkpointText(checkpoint)), key, Buffer.from(checkpoint.signature, 'base64'))) {
          return fault('the signature of its checkpoint is not valid')
        }
        expected.delete(record.seq)
      }
      count = record.seq
      head = record.hash
      return undefined
    },
    end(): { count: number; head: string; problem: ChainProblem | undefined } {
      const [missing] = expected.keys()
      const problem =
        missing === undefined ? undefined : { seq: missing, problem: 'a signed checkpoint names it, but it is not there' }
      return { count, head, problem }
    },
  }
}
