// The holder's part of an mdoc (ISO/IEC 18013-5 § 9.1.3): the device key, which the issuer signed,
// proves possession over the transcript of our request. Elements that the device adds are checked
// for permission only and never become claims.

import { fitsKey, parseSign1, type Sign1, verifySign1 } from '../cbor/cose.ts'
import { readCoseKey } from '../cbor/cose-key.ts'
import { verifyMac0 } from '../cbor/cose-mac.ts'
import { Embedded, encodeCbor, Received } from '../cbor/encode.ts'
import type { CborItem } from '../cbor/item.ts'
import type { Expected } from '../credential.ts'
import { embeddedIn, type Mso, member } from './issuer.ts'

type DeviceSigned = {
  /** The received bytes with tag 24, a part of the signed data. */
  nameSpacesBytes: Uint8Array
  elements: { nameSpace: string; identifier: string }[]
  signature: Sign1 | undefined
  mac: CborItem | undefined
}

/** Throws CborError. */
export function parseDeviceSigned(item: CborItem | undefined): DeviceSigned | undefined {
  if (!item) return undefined
  const deviceSigned = item.asMap()
  const nameSpaces = member(deviceSigned, 'nameSpaces')
  const deviceAuth = deviceSigned.get('deviceAuth')?.asMap()
  const signature = deviceAuth?.get('deviceSignature')
  const elements = embeddedIn(nameSpaces)
    .asMap()
    .entries()
    .flatMap(([nameSpace, items]) =>
      items
        .asMap()
        .keys()
        .map(identifier => ({ nameSpace: String(nameSpace), identifier: String(identifier) })),
    )
    .toArray()
  return {
    nameSpacesBytes: nameSpaces.bytes,
    elements,
    signature: signature && parseSign1(signature),
    mac: deviceAuth?.get('deviceMac'),
  }
}

type Binding = Pick<Expected, 'macKey'> & { mso: Mso; docType: string; transcript: Uint8Array }

export async function findHolderBindingProblem(
  deviceSigned: DeviceSigned | undefined,
  { mso, docType, transcript, macKey }: Binding,
): Promise<string | undefined> {
  if (!deviceSigned || (!deviceSigned.signature && !deviceSigned.mac))
    return 'The proof that the holder owns the credential is missing.'
  const { signature, mac, nameSpacesBytes } = deviceSigned
  // OpenID4VP does not define our key for a MAC, and the request does not announce any (§ B.2.2).
  if (!signature && !macKey)
    return 'The wallet proved possession with a MAC (deviceMac), which is not supported: a signature is needed.'
  if (signature && mac) return 'The wallet sent two proofs of possession.'
  const deviceKeyInfo = mso.deviceKeyInfo?.isMap ? mso.deviceKeyInfo.asMap() : undefined
  const deviceKey = deviceKeyInfo?.get('deviceKey')
  const key = deviceKey && (await readCoseKey(deviceKey))
  if (!key) return "The issuer signed no usable key of the holder's device."
  const keyOfMac = mac && (await macKey?.(deviceKey))
  if (mac && !keyOfMac) return 'The wallet proved possession with a MAC by a key of another curve.'
  if (signature && !fitsKey(signature, key)) return 'The algorithm of the proof of possession is not accepted.'
  if (!isAuthorized(deviceSigned, deviceKeyInfo?.get('keyAuthorizations')))
    return 'The device stated data that the issuer did not allow it to state.'
  const detachedPayload = deviceAuthenticationBytes(transcript, docType, nameSpacesBytes)
  const isValid = signature
    ? await verifySign1(signature, key, { detachedPayload })
    : verifyMac0(mac!, keyOfMac!, detachedPayload)
  return isValid ? undefined : 'The proof of possession is not valid for this request.'
}

/** Every element must be allowed by its namespace or by its own name (ISO/IEC 18013-5 § 9.1.2.4). */
function isAuthorized({ elements }: DeviceSigned, keyAuthorizations: CborItem | undefined): boolean {
  if (elements.length === 0) return true
  if (!keyAuthorizations?.isMap) return false
  const authorizations = keyAuthorizations.asMap()
  const nameSpaces = textsIn(authorizations.get('nameSpaces'))
  const dataElements = new Map(
    authorizations
      .get('dataElements')
      ?.asMap()
      .entries()
      .map(([name, list]) => [name, textsIn(list)]),
  )
  return elements.every(({ nameSpace, identifier }) => nameSpaces.has(nameSpace) || dataElements.get(nameSpace)?.has(identifier))
}

const textsIn = (item: CborItem | undefined): Set<string> => new Set(item?.asArray().map(text => text.asText()))

/** 24(bstr .cbor DeviceAuthentication), ISO/IEC 18013-5 § 9.1.3.4. */
const deviceAuthenticationBytes = (transcript: Uint8Array, docType: string, nameSpacesBytes: Uint8Array): Uint8Array =>
  encodeCbor(new Embedded(['DeviceAuthentication', new Received(transcript), docType, new Received(nameSpacesBytes)]))
