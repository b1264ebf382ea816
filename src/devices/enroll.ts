import { admitGuess, recordWrongGuess } from '../access/guessing.ts'
import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import type { Deps } from './deps.ts'
import { readPairingCode } from './pairing-code.ts'
import { findReplay, keepReplay, type Presented } from './replay.ts'
import { findToken, lockDevice, markEnrolled, spendToken } from './store.ts'
import { type Exchange, FAMILY_MS, issuePair } from './tokens.ts'

type Claim = {
  /** The network, as budgets count it. */
  client: string
  /** The code as a person typed it. */
  code: string
  idempotencyKey: string | undefined
}

/** Wrong, spent, lapsed and lost codes get the same response (interface 3.2). */
export async function enrollDevice(deps: Deps, { client, code, idempotencyKey }: Claim): Promise<Exchange> {
  const giveBack = await admitGuess(deps, client)
  const read = readPairingCode(deps, code)
  const exchange = await deps.write(async tx => {
    const enrolled = read && (await claim(deps, tx, { ...read, idempotencyKey }))
    if (!enrolled) await recordWrongGuess(deps, tx, client)
    return enrolled
  })
  if (!exchange) throw apiError('invalid_pairing_code')
  await giveBack()
  deps.networks.note(client)
  return exchange
}

async function claim(deps: Deps, tx: Db, presented: Presented): Promise<Exchange | undefined> {
  const known = await findToken(tx, presented)
  if (!known) return undefined
  await lockDevice(tx, known)
  const at = deps.now()
  const spent = await spendToken(tx, presented, at)
  if (!spent) {
    const pair = await findReplay(deps, tx, presented, at)
    return pair && { pair, replayed: true }
  }
  const { tenantId, deviceId } = spent
  const device = await markEnrolled(tx, spent, at)
  await deps.audit.append(tx, { at, tenantId, actor: device.name, action: 'device.enrolled', subjectId: deviceId })
  const pair = await issuePair(deps, tx, device, { generation: spent.generation + 1, familyExpiresAt: at + FAMILY_MS, at })
  await keepReplay(deps, tx, presented, pair)
  return { pair, replayed: false }
}
