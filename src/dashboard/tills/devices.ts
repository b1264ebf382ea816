import { isoUtc } from '../../base/time.ts'
import { changeDevice } from '../../devices/change.ts'
import { pairAgain } from '../../devices/pair-again.ts'
import { pairingLink } from '../../devices/pairing-code.ts'
import { presentTill } from '../../devices/present.ts'
import { type Registration, registerDevice } from '../../devices/register.ts'
import type { ChangeTill, PairDevice, RegisterTill, TillDevice } from '../../devices/schema.ts'
import { liftLock, readLocks } from '../../guesses/pairing.ts'
import { apiError } from '../../http/errors.ts'
import { actorOf, type Visit } from '../../people/session.ts'
import type { Owner } from '../../tenants/settings.ts'
import type { Deps } from '../deps.ts'
import type { PairableDevice, PairingLockList } from './schema.ts'

export async function addTill(deps: Deps, visit: Visit, owner: Owner, wanted: RegisterTill): Promise<PairableDevice> {
  return withLink(deps, await registerDevice(deps, owner, wanted, actorOf(visit.user)))
}

type Named = Owner & { id: string }

export async function changeTill(deps: Deps, visit: Visit, { id, ...owner }: Named, changes: ChangeTill): Promise<TillDevice> {
  return presentTill(await changeDevice(deps, owner, id, changes, actorOf(visit.user)))
}

export async function pairTill(deps: Deps, visit: Visit, { id, ...owner }: Named, wanted: PairDevice): Promise<PairableDevice> {
  return withLink(deps, await pairAgain(deps, owner, id, wanted, actorOf(visit.user)))
}

const withLink = ({ config }: Deps, { device, pairingCode }: Registration): PairableDevice => ({
  device: presentTill(device),
  pairing_code: pairingCode,
  pairing_url: pairingLink(config.publicUrl, pairingCode),
})

/** Networks that wrong pairing codes locked out. They are known by an HMAC only. */
export async function readPairingLocks(deps: Deps): Promise<PairingLockList> {
  return { data: (await readLocks(deps)).map(({ network, lockedUntil }) => ({ id: network, locked_until: isoUtc(lockedUntil) })) }
}

export async function liftPairingLock(deps: Deps, id: string, actor: string): Promise<void> {
  if (!(await liftLock(deps, id, actor))) throw apiError('not_found', { message: 'This network is not locked any more.' })
}
