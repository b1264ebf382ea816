// The audit chain. Each record's hash covers the record before it and a salted commitment to its details. The
// details and the salt are stored beside the chain and can be erased without breaking it. Signed checkpoints fix
// the past: records up to the last checkpoint that somebody keeps elsewhere cannot be rewritten unnoticed. Newer
// records can, by anybody who has the file and the master key.
import { createPrivateKey, createPublicKey, sign as ed25519Sign, verify as ed25519Verify, type KeyObject } from 'node:crypto'
import { canonicalJson, sha256Hex } from '../base/hash.ts'
import { isoUtc } from '../base/time.ts'

/** The dashboard has words for each. */
export const AUDIT_ACTIONS = [
  'backup.restored',
  'master_key.replaced',
  'clock.stepped',
  'tenant.created',
  'tenant.changed',
  'origin.added',
  'origin.removed',
  'key.created',
  'key.revoked',
  'key.rolled',
  'device.registered',
  'device.enrolled',
  'device.changed',
  'device.code_renewed',
  'device.revoked',
  'pairing.unlocked',
  'template.saved',
  'template.deleted',
  'signing.imported',
  'signing.requested',
  'signing.removed',
  'signing.cancelled',
  'signing.reader_imported',
  'signing.reader_removed',
  'signing.key_erased',
  'registration.added',
  'registration.removed',
  'trust.added',
  'trust.removed',
  'trust.source_added',
  'trust.source_changed',
  'trust.source_removed',
  'trust.list_accepted',
  'trust.list_refused',
  'trust.blocked',
  'trust.unblocked',
  'trust.bundle_exported',
  'trust.bundle_imported',
  'trust.status_list_added',
  'trust.status_list_removed',
  'user.created',
  'user.invited',
  'user.joined',
  'user.removed',
  'user.reset',
  'user.link_mailed',
  'user.address_changed',
  'user.role_changed',
  'user.password_changed',
  'user.factor_added',
  'user.factor_removed',
  'user.factor_rule_changed',
  'user.logged_in',
  'user.login_failed',
  'user.logged_out',
  'audit.exported',
  'verification.exported',
  'secret.created',
  'secret.rotated',
  'secret.dropped',
  'secret.revealed',
  'endpoint.set',
  'endpoint.removed',
  'client.created',
  'client.changed',
  'client.secret_rolled',
  'client.removed',
  'oidc.keys_turned',
  'oidc.token_issued',
  'oidc.code_replayed',
  'webhook.replayed',
  'webhook.tested',
  'verification.created',
  'verification.read',
  'verification.completed',
  'verification.failed',
  'verification.expired',
  'verification.erased',
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

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

/** Identifies the whole chain up to one record. */
export type Head = Pick<AuditRecord, 'seq' | 'at' | 'hash'>

export type AuditDetails = Record<string, unknown>

export type Checkpoint = { seq: number; at: number; hash: string; signature: string }

/** Removes the details of its subject's other records. */
export const isErasure = ({ action }: { action: string }): boolean => action.endsWith('.erased')

export const GENESIS = '0'.repeat(64)

/** ECMA-262 § 21.4.1.1. */
const TIME_MAX_MS = 8.64e15

const commitmentTo = (salt: Uint8Array, details: AuditDetails): string => commitmentToText(salt, canonicalJson(details))

export const commitmentToText = (salt: Uint8Array, canonical: string): string =>
  new Bun.CryptoHasher('sha256').update(salt).update(canonical).digest('hex')

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

export function isSigned(checkpoint: Checkpoint, key: KeyObject): boolean {
  // A time that no date can express was never signed.
  if (Math.abs(checkpoint.at) > TIME_MAX_MS) return false
  return ed25519Verify(null, Buffer.from(checkpointText(checkpoint)), key, Buffer.from(checkpoint.signature, 'base64'))
}

const checkpointText = ({ seq, at, hash }: Omit<Checkpoint, 'signature'>): string =>
  `vidimus audit checkpoint\n${seq}\n${isoUtc(at)}\n${hash}\n`

export type ChainProblem = { seq: number; problem: string }

export type Disclosed = { salt: Uint8Array; details: AuditDetails }

/** Undefined when the text is not a public key. */
export function readPublicKey(text: string): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
}

/** Takes records in order and keeps only the head and open questions, so a chain of any length can be checked. */
export function chainVerifier(key: KeyObject, checkpoints: readonly Checkpoint[]) {
  let count = 0
  let head = GENESIS
  let checked = 0
  let signedTo = 0
  /** The first record without details of each subject. Only an erasure removes details, and it leaves a record of its own. */
  const undisclosed = new Map<string, number>()

  function checkpointProblem(record: AuditRecord): string | undefined {
    for (let due = checkpoints[checked]; due?.seq === record.seq; due = checkpoints[++checked]) {
      if (due.hash !== record.hash) return 'it differs from the signed checkpoint'
      if (!isSigned(due, key)) return 'the signature of its checkpoint is not valid'
      signedTo = record.seq
    }
    return undefined
  }

  return {
    /** `disclosed` is absent for an erased subject. */
    next(record: AuditRecord, disclosed?: Disclosed): ChainProblem | undefined {
      const fault = (problem: string) => ({ seq: count + 1, problem })
      if (record.seq !== count + 1) return fault('it is missing or out of order')
      if (record.previous !== head) return fault('it does not follow the record before it')
      if (recordHash(record) !== record.hash) return fault('its hash does not match its fields')
      if (disclosed && commitmentTo(disclosed.salt, disclosed.details) !== record.commitment)
        return fault('its details were changed')
      if (isErasure(record)) undisclosed.delete(record.subject)
      else if (!disclosed && !undisclosed.has(record.subject)) undisclosed.set(record.subject, record.seq)
      const problem = checkpointProblem(record)
      if (problem) return fault(problem)
      count = record.seq
      head = record.hash
      return undefined
    },
    /** `signedTo` is the last record that a checkpoint fixes. */
    end(): { count: number; head: string; signedTo: number; problem: ChainProblem | undefined } {
      const [silent] = undisclosed.values()
      const missing = checkpoints[checked]
      const problem = missing
        ? { seq: missing.seq, problem: 'a signed checkpoint names it, but it is not there' }
        : silent && { seq: silent, problem: 'its details are gone, and no record of an erasure explains it' }
      return { count, head, signedTo, problem: problem || undefined }
    },
  }
}
