import { Type } from '@sinclair/typebox'
import { TillDevice } from '../../devices/schema.ts'
import { Timestamp } from '../../http/schema.ts'
import { Exactly, ListOf } from '../../http/wire.ts'

export const TillDeviceList = ListOf(TillDevice)
export const PairableDevice = Exactly({
  device: TillDevice,
  pairing_code: Type.String(),
  /** The text of a QR code, which opens the till's page with the code filled in. */
  pairing_url: Type.String(),
})
export type PairableDevice = typeof PairableDevice.static

/** Networks from which no pairing code is looked at. */
export const PairingLockList = ListOf(Exactly({ id: Type.String(), locked_until: Timestamp }))
export type PairingLockList = typeof PairingLockList.static
