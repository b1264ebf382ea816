import type { Db } from '../db/engine.ts'
import { admitGuess } from '../guesses/pairing.ts'
import { apiError } from '../http/errors.ts'
import type { Deps } from './deps.ts'
import { readPairingCode } from './pairing-code.ts'
import { findReplay, keepReplay, type Presented } from './replay.ts'
import { findToken, lockDevice, markEnrolled, spendToken } from './store.ts'
import { type Exchange, FAMILY_MS, issuePair } from './tokens.ts'

const NO_TENANT = ''

type Claim = {
  /** The network, as budgets count it. */
  client: string
  /** The code as a person typed it. */
  code: string
  idempotencyKey: string | undefined
}

/** Wrong, spent, lapsed and lost codes get the same response (interface 3.2). */
export async function enrollDevice(deps: Deps, { client, code, idempotencyKey }: Claim): Promise<Exchange> {
  const read = readPairingCode(deps, code)
  const presented = read && { ...read, idempotencyKey }
  const admission = (await isExpected(deps, presented, client)) ? undefined : await admitGuess(deps, client)
  const exchange = await deps.write(async tx => {
    const enrolled = presented && (await claim(deps, tx, presented))
    if (!enrolled) await admission?.recordWrong(tx)
    return enrolled
  })
  if (!exchange) throw apiError('invalid_pairing_code')
  await admission?.giveBack()
  deps.networks.note(client, exchange.tenantId)
  return exchange
}

/** A code that works, or repeats, from a network of its own tenant: strangers' guesses there do not keep it out. */
async function isExpected(deps: Deps, presented: Presented | undefined, client: string): Promise<boolean> {
  const token = presented && (await findToken(deps.db, presented))
  // Looked up for unknown codes too, so that the time does not tell.
  const isOwn = await deps.networks.isKnown(client, token?.tenantId ?? NO_TENANT)
  if (!token || !isOwn || token.revokedAt !== null) return false
  if (token.spentAt === null) return token.expiresAt > deps.now()
  return presented?.idempotencyKey !== undefined && token.replaySealed !== null
}

async function claim(deps: Deps, tx: Db, presented: Presented): Promise<Exchange | undefined> {
  const known = await findToken(tx, presented)
  if (!known) return undefined
  await lockDevice(tx, known)
  const at = deps.now()
  const spent = await spendToken(tx, presented, at)
  if (!spent) {
    const pair = await findReplay(deps, tx, presented, at)
    return pair && { tenantId: known.tenantId, pair, replayed: true }
  }
  const { tenantId, deviceId } = spent
  const device = await markEnrolled(tx, spent, at)
  await deps.audit.append(tx, { at, tenantId, actor: device.name, action: 'device.enrolled', subjectId: deviceId })
  const pair = await issuePair(deps, tx, device, { generation: spent.generation + 1, familyExpiresAt: at + FAMILY_MS, at })
  await keepReplay(deps, tx, presented, pair)
  return { tenantId, pair, replayed: false }
}
