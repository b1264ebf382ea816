import { version } from '../../../package.json' with { type: 'json' }
import { isoUtc } from '../../base/time.ts'
import type { Reading, Unsealing } from '../../ground.ts'
import { areSignersKept } from '../../tenants/secret-history.ts'
import { readSigningSecrets, type SigningSecrets } from '../../tenants/webhook-secret.ts'
import type { AttemptRow } from '../attempt-store.ts'
import type { ClaimedDelivery } from '../lease-store.ts'
import type { DeliveryRow, Owner } from '../store.ts'
import { signatureHeaders } from './sign.ts'

export type SignedMessage = { headers: Record<string, string>; body: string }

type Stamped = Owner & Pick<ClaimedDelivery, 'id' | 'type' | 'attempts'> & { at: number }

/** The exact bytes and headers of an attempt. */
export async function signedMessage(
  secretsOf: SigningSecrets,
  { id, tenantId, environment, type, attempts, at }: Stamped,
  verification: object,
): Promise<SignedMessage> {
  const payload = payloadOf(type, verification, at)
  const secrets = await secretsOf({ tenantId, environment }, at)
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': `Vidimus/${version}`,
      'x-service-attempt': String(attempts + 1),
      ...signatureHeaders({ id, payload, secrets, timestamp: Math.floor(at / 1000) }),
    },
    body: payload,
  }
}

/** The event, without a signature. */
export const payloadOf = (type: DeliveryRow['type'], verification: object, at: number): string =>
  JSON.stringify({ type, verification, sent_at: isoUtc(at) })

const SIGNATURES = ['x-service-signature', 'webhook-signature']

/**
 * The message of an earlier attempt, made again with the time of that attempt. It has no signatures when a secret of that time,
 * or a part of the signed text (`isCut`), is deleted.
 */
export async function sentMessage(
  deps: Reading & Unsealing,
  owner: Owner,
  { id, type }: DeliveryRow,
  { attempt, at }: AttemptRow,
  verification: object,
  isCut: boolean,
): Promise<SignedMessage & { isSecretGone: boolean }> {
  const { headers, body } = await signedMessage(
    readSigningSecrets(deps),
    { ...owner, id, type, attempts: attempt - 1, at },
    verification,
  )
  // Checked after signing: a secret that is still kept now was kept then.
  const isSecretGone = !(await areSignersKept(deps.db, owner, at))
  // The user agent names a version, which may have changed since.
  const hidden = ['user-agent', ...(isSecretGone || isCut ? SIGNATURES : [])]
  return { headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !hidden.includes(name))), body, isSecretGone }
}
