import { areSignersKept } from '../tenants/secret-history.ts'
import { type SignedMessage, signedMessage } from './deliver.ts'
import type { Deps } from './deps.ts'
import type { AttemptRow, DeliveryRow, Owner } from './store.ts'

const SIGNATURES = ['x-service-signature', 'webhook-signature']

/**
 * What an attempt sent, made again: its time is the time of its signatures. Without them when a secret of that time is gone, or a part of what was
 * signed (`isCut`).
 */
export async function sentMessage(
  deps: Pick<Deps, 'db' | 'sealer'>,
  owner: Owner,
  { id, type }: DeliveryRow,
  { attempt, at }: AttemptRow,
  verification: object,
  isCut: boolean,
): Promise<SignedMessage & { isSecretGone: boolean }> {
  const { headers, body } = await signedMessage(deps, { ...owner, id, type, attempts: attempt - 1, at }, verification)
  // Asked after signing: a secret that is still kept now was so then.
  const isSecretGone = !(await areSignersKept(deps.db, owner, at))
  // The version that sent it may have been another one.
  const untold = ['user-agent', ...(isSecretGone || isCut ? SIGNATURES : [])]
  return { headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !untold.includes(name))), body, isSecretGone }
}
