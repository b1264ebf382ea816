// The code that a phone shows (ISO/IEC 18013-5, 8.2.1): its key for this session, and how it can be reached.
import { toBase64Url } from '../bytes.ts'
import { type Cbor, embedded, encodeCbor } from '../cbor.ts'
import { type Curve, curveKey, type EphemeralKey, newEphemeralKey } from './curves.ts'

const BLE = 2

export type EngagementOptions = {
  version?: '1.0' | '1.1'
  mode?: 'peripheral' | 'central' | 'both'
  curve?: Curve
  isCompressed?: boolean
  /** Of the second edition. */
  capabilities?: { readerAuthAll?: boolean; extendedRequest?: boolean }
  /** Members to add or replace. */
  members?: ReadonlyMap<number, Cbor>
}

export type Engagement = {
  code: string
  bytes: Uint8Array<ArrayBuffer>
  key: EphemeralKey
  /** The UUID of the GATT service; undefined if the phone connects by itself only. */
  service: string | undefined
}

export async function makeEngagement(options: EngagementOptions): Promise<Engagement> {
  const { version = '1.0', mode = 'peripheral', curve = 'P-256', isCompressed, capabilities, members } = options
  const key = await newEphemeralKey(curve)
  const [server, client] = [crypto.randomUUID(), crypto.randomUUID()]
  const bytes = encodeCbor(
    new Map<number, Cbor>([
      [0, version],
      [1, [1, embedded(curveKey(key, isCompressed))]],
      [2, [[BLE, 1, bleOptions(mode, server, client)]]],
      ...(capabilities ? [[6, capabilitiesMap(capabilities)] as const] : []),
      ...(members ?? []),
    ]),
  )
  return { code: `mdoc:${toBase64Url(bytes)}`, bytes, key, service: mode === 'central' ? undefined : server }
}

const bleOptions = (mode: EngagementOptions['mode'], server: string, client: string): Cbor =>
  new Map<number, Cbor>([
    [0, mode !== 'central'],
    [1, mode !== 'peripheral'],
    ...(mode === 'central' ? [] : [[10, uuidBytes(server)] as const]),
    ...(mode === 'peripheral' ? [] : [[11, uuidBytes(client)] as const]),
  ])

const capabilitiesMap = ({ readerAuthAll, extendedRequest }: NonNullable<EngagementOptions['capabilities']>): Cbor =>
  new Map<number, Cbor>([
    ...(readerAuthAll === undefined ? [] : [[3, readerAuthAll] as const]),
    ...(extendedRequest === undefined ? [] : [[4, extendedRequest] as const]),
  ])

const uuidBytes = (uuid: string): Uint8Array =>
  Uint8Array.from(uuid.replaceAll('-', '').match(/../g)!, byte => Number.parseInt(byte, 16))
