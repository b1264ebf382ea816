// The code that a phone shows to be read in person: DeviceEngagement of ISO/IEC 18013-5 § 8.2.1.1. Wallets tie its version to its
// members in ways of their own, so only the members count.
import { hkdfSync } from 'node:crypto'
import { decodeBase64url } from '../base/base64url.ts'
import { parseCbor } from '../openid4vp/cbor/cbor.ts'
import { type AgreementKey, importPoint, isOfOtherCurve, pointOf } from '../openid4vp/cbor/cose-key.ts'
import { CborError, type CborItem, type CborMap } from '../openid4vp/cbor/item.ts'
import { embeddedIn } from '../openid4vp/mdoc/issuer.ts'

export type Engagement = {
  /** As scanned: the transcript is made over these bytes. */
  bytes: Uint8Array
  version: string
  deviceKey: AgreementKey
  /** Peripheral server first, where the phone offers both. */
  transports: readonly Transport[]
  /** The phone verifies signatures of several readers over a whole request. */
  takesReaderAuthAll: boolean
  /** The phone understands use cases, and so alternatives. */
  takesUseCases: boolean
}

export type Transport =
  | { type: 'ble_peripheral_server'; service: string; psm?: number }
  | { type: 'ble_central_client'; service: string; ident: string }
  | { type: 'nfc' }

export type Refusal = 'invalid' | 'curve_not_supported'

/** Of the base64url, which is at most 1,536 bytes. */
const CODE = /^\s*mdoc:(?:\/\/)?([\w-]{20,2048})={0,2}\s*$/i
const ITEMS_MAX = 1000
const DEPTH_MAX = 8
const METHODS_MAX = 16

/** Never throws. Nothing is refused for what it offers: that depends on what the caller can do. */
export async function readEngagement(text: string): Promise<Engagement | Refusal> {
  const bytes = decodeBase64url(CODE.exec(text)?.[1] ?? '')
  if (!bytes) return 'invalid'
  try {
    return await engagementIn(bytes)
  } catch (error) {
    if (error instanceof CborError) return 'invalid'
    throw error
  }
}

const VERSION = 0
const SECURITY = 1
const METHODS = 2
const CAPABILITIES = 6
const READER_AUTH_ALL = 3
const EXTENDED_REQUEST = 4
const CIPHER_SUITE = 1

/** Throws CborError. */
async function engagementIn(bytes: Uint8Array): Promise<Engagement | Refusal> {
  const members = parseCbor(bytes, { itemsMax: ITEMS_MAX, depthMax: DEPTH_MAX }).asMap()
  const version = required(members, VERSION).asText()
  const [suite, keyBytes, ...more] = required(members, SECURITY).asArray()
  if (!/^1\.\d{1,3}$/.test(version) || suite?.asUint() !== CIPHER_SUITE || !keyBytes || more.length > 0) return 'invalid'
  const coseKey = embeddedIn(keyBytes).asMap()
  if (isOfOtherCurve(coseKey)) return 'curve_not_supported'
  const point = pointOf(coseKey)
  const deviceKey = point && (await importPoint(point))
  const methods = members.get(METHODS)?.asArray() ?? []
  if (!deviceKey || methods.length > METHODS_MAX) return 'invalid'
  const has = capabilitiesIn(members.get(CAPABILITIES))
  return {
    bytes,
    version,
    deviceKey,
    transports: methods.flatMap(method => transportsOf(method, keyBytes.bytes)),
    takesReaderAuthAll: has(READER_AUTH_ALL),
    takesUseCases: has(EXTENDED_REQUEST),
  }
}

function required(members: CborMap, key: number): CborItem {
  const item = members.get(key)
  if (!item) throw new CborError('a member is missing')
  return item
}

/** Nobody is refused for them. */
const capabilitiesIn =
  (item: CborItem | undefined) =>
  (key: number): boolean =>
    item?.isMap === true && item.asMap().get(key)?.decode() === true

const NFC = 1
const BLE = 2
const METHOD_VERSION = 1

/** Empty for a method that is unknown, or of another version. */
function transportsOf(method: CborItem, keyBytes: Uint8Array): Transport[] {
  const [type, version, options] = method.asArray()
  if (version?.asUint() !== METHOD_VERSION || !options?.isMap) return []
  const number = type?.asUint()
  if (number === NFC) return [{ type: 'nfc' }]
  return number === BLE ? bleTransports(options.asMap(), keyBytes) : []
}

const PERIPHERAL_SERVER = { mode: 0, uuid: 10 }
const CENTRAL_CLIENT = { mode: 1, uuid: 11 }
const PSM = 21
const UUID_BYTES = 16
const IDENT_BYTES = 16

/** ISO/IEC 18013-5 § 8.2.1.3. A mode without its UUID cannot be used. */
function bleTransports(options: CborMap, keyBytes: Uint8Array): Transport[] {
  const serviceOf = ({ mode, uuid }: typeof PERIPHERAL_SERVER) =>
    options.get(mode)?.decode() === true ? uuidText(options.get(uuid)) : undefined
  const [server, client, psm] = [serviceOf(PERIPHERAL_SERVER), serviceOf(CENTRAL_CLIENT), options.get(PSM)?.decode()]
  const transports: Transport[] = []
  if (server) transports.push({ type: 'ble_peripheral_server', service: server, ...(isPsm(psm) && { psm }) })
  // By the identifier the phone recognises a reader that acts as the server (§ 8.3.3.1.1.3).
  const ident = () => Buffer.from(hkdfSync('sha256', keyBytes, '', 'BLEIdent', IDENT_BYTES)).toString('base64url')
  if (client) transports.push({ type: 'ble_central_client', service: client, ident: ident() })
  return transports
}

/** One that is no whole number is as good as none. */
const isPsm = (psm: unknown): psm is number => Number.isSafeInteger(psm) && (psm as number) > 0

function uuidText(item: CborItem | undefined): string | undefined {
  if (!item?.isBytes || item.asBytes().length !== UUID_BYTES) return undefined
  return Buffer.from(item.asBytes())
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
