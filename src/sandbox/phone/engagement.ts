// The code that a phone shows (ISO/IEC 18013-5, 8.2.1): its key for this session, and how it can be reached.
import { toBase64Url } from '../bytes.ts'
import { type Cbor, embedded, encodeCbor } from '../cbor.ts'
import { coseKey } from '../cose.ts'
import { type Curve, newEphemeralKey } from './curves.ts'

const BLE = 2

export type EngagementOptions = {
  /** 1.1 says that the phone understands use cases (second edition). */
  version?: '1.0' | '1.1'
  mode?: 'peripheral' | 'central' | 'both'
  curve?: Curve
  /** Adds members, or replaces them. */
  change?: (members: Map<number, Cbor>) => Map<number, Cbor>
}

/** `service`: the UUID of the GATT service; undefined if the phone connects by itself only. */
export async function makeEngagement(options: EngagementOptions) {
  const { version = '1.0', mode = 'peripheral', curve = 'P-256', change = members => members } = options
  const key = await newEphemeralKey(curve)
  const service = mode === 'central' ? undefined : crypto.randomUUID()
  const client = mode === 'peripheral' ? undefined : crypto.randomUUID()
  const ble = new Map<number, Cbor>([
    [0, service !== undefined],
    [1, client !== undefined],
  ])
  if (service) ble.set(10, uuidBytes(service))
  if (client) ble.set(11, uuidBytes(client))
  const members = new Map<number, Cbor>([
    [0, version],
    [1, [1, embedded(coseKey(key))]],
    [2, [[BLE, 1, ble]]],
  ])
  if (version === '1.1') members.set(6, new Map([[4, true]]))
  const bytes = encodeCbor(change(members))
  return { code: `mdoc:${toBase64Url(bytes)}`, bytes, key, service }
}

const uuidBytes = (uuid: string): Uint8Array =>
  Uint8Array.from(uuid.replaceAll('-', '').match(/../g)!, byte => Number.parseInt(byte, 16))
