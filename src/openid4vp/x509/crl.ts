// Certificate revocation lists (RFC 5280 § 5 and § 6.3). Only complete lists signed by the
// certificate's own issuer are accepted: delta lists, indirect lists, lists for some reasons only
// and unknown critical extensions are refused.

import { constants, verify, X509Certificate } from 'node:crypto'
import { CLOCK_SKEW_MS } from '../credential.ts'
import { isSame, SIGNATURE_HASHES } from './certification-path.ts'
import {
  context,
  type DerElement,
  DerError,
  DerReader,
  readAll,
  readBitString,
  readBoolean,
  readDer,
  readOid,
  readTime,
  TAG,
} from './der.ts'
import { isSameName, Name } from './distinguished-name.ts'
import { type Certificate, readExtensions, serialOf, uriNames } from './x509.ts'

export const CRL_BYTES_MAX = 2 * 1024 * 1024
const ENTRIES_MAX = 50_000

export type Crl = {
  /** Milliseconds. */
  thisUpdate: number
  nextUpdate: number
  /** Serial numbers as x509.ts writes them. */
  revoked: ReadonlySet<string>
  covers: 'all' | 'authorities' | 'others'
  /** The places that it says it is made for; undefined if it names none. */
  places: readonly string[] | undefined
}

/** The list cannot be used; `message` is a clause for the merchant. */
export class CrlFault extends Error {
  override name = 'CrlFault'
}

const OID = {
  crlNumber: '2.5.29.20',
  reasonCode: '2.5.29.21',
  invalidityDate: '2.5.29.24',
  deltaIndicator: '2.5.29.27',
  issuingDistributionPoint: '2.5.29.28',
  authorityKeyIdentifier: '2.5.29.35',
}
const KNOWN_OF_LIST = new Set([OID.crlNumber, OID.issuingDistributionPoint, OID.authorityKeyIdentifier])
const KNOWN_OF_ENTRY = new Set([OID.reasonCode, OID.invalidityDate])

const RSA_PSS = '1.2.840.113549.1.1.10'
const PSS_HASHES: Record<string, string> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
}

/** Throws a `CrlFault`. */
export function readCrl(der: Uint8Array, authority: Certificate, now: number): Crl {
  if (der.length > CRL_BYTES_MAX) throw new CrlFault('it is too large')
  try {
    return read(der, authority, now)
  } catch (error) {
    if (error instanceof DerError) throw new CrlFault('it cannot be read', { cause: error })
    throw error
  }
}

function read(der: Uint8Array, authority: Certificate, now: number): Crl {
  const outer = new DerReader(readDer(der, TAG.sequence).content)
  const signed = outer.next(TAG.sequence)
  const algorithm = outer.next(TAG.sequence)
  const signature = readBitString(outer.next(TAG.bitString).content)
  outer.end()
  if (signature.unusedBits !== 0) throw new DerError('a signature with unused bits')

  const list = new DerReader(signed.content)
  list.optional(TAG.integer)
  // RFC 5280 § 5.1.1.2: both must name the same algorithm.
  if (!isSame(list.next(TAG.sequence).raw, algorithm.raw)) throw new CrlFault('it names two signature algorithms')
  if (!isSameName(new Name(list.next(TAG.sequence).raw), authority.subject)) throw new CrlFault('another authority issued it')
  if (authority.keyUsage && !authority.keyUsage.usages.includes('cRLSign'))
    throw new CrlFault('its authority may not sign such lists')
  if (!isSigned(signed.raw, algorithm, signature.bytes, authority)) throw new CrlFault('its signature does not hold')

  const thisUpdate = readTime(list.next())
  const nextUpdate = list.optional(TAG.utcTime) ?? list.optional(TAG.generalizedTime)
  // § 5.1.2.5: the date of the next list is mandatory.
  if (!nextUpdate) throw new CrlFault('it does not say until when it counts')
  if (thisUpdate > now + CLOCK_SKEW_MS) throw new CrlFault('it is dated in the future; check the clock of this server')
  const until = readTime(nextUpdate)
  if (until <= now) throw new CrlFault('it has expired')
  const revoked = readRevoked(list.optional(TAG.sequence))
  const extensions = readExtensions(list.optional(context(0, { constructed: true })))
  list.end()
  // § 5.2.4: critical by the standard. One that is not would hide all revocations before its base list as well.
  if (extensions.some(({ oid }) => oid === OID.deltaIndicator)) throw new CrlFault('it has only the changes of another list')
  if (extensions.some(({ oid, critical }) => critical && !KNOWN_OF_LIST.has(oid)))
    throw new CrlFault('it is limited in a way that is not known here')
  const point = extensions.find(({ oid }) => oid === OID.issuingDistributionPoint)
  return { thisUpdate, nextUpdate: until, revoked, ...(point ? readScope(point.value) : { covers: 'all', places: undefined }) }
}

function isSigned(signed: Uint8Array, algorithm: DerElement, signature: Uint8Array, authority: Certificate): boolean {
  const reader = new DerReader(algorithm.content)
  const oid = readOid(reader.next(TAG.oid).content)
  const digest = oid === RSA_PSS ? pssHash(reader) : SIGNATURE_HASHES.get(oid)
  if (digest === undefined) throw new CrlFault('its signature is of a kind that is not accepted')
  const isPss = oid === RSA_PSS
  try {
    const key = new X509Certificate(authority.der).publicKey
    return verify(digest, signed, isPss ? { key, padding: constants.RSA_PKCS1_PSS_PADDING } : key, signature)
  } catch {
    // The key is of another kind than the algorithm, so it did not sign this.
    return false
  }
}

/** RFC 4055 § 3.1. The default is SHA-1, which is not accepted. */
function pssHash(algorithm: DerReader): string | undefined {
  const named = new DerReader(algorithm.next(TAG.sequence).content).optional(context(0, { constructed: true }))
  return named && PSS_HASHES[readOid(new DerReader(readDer(named.content, TAG.sequence).content).next(TAG.oid).content)]
}

function readRevoked(element: DerElement | undefined): Set<string> {
  const revoked = new Set<string>()
  if (!element) return revoked
  const entries = new DerReader(element.content)
  while (!entries.isDone) {
    if (revoked.size === ENTRIES_MAX) throw new CrlFault('it is too large')
    const entry = new DerReader(entries.next(TAG.sequence).content)
    const serial = serialOf(entry.next(TAG.integer))
    readTime(entry.next())
    const extensions = entry.isDone ? [] : readExtensionList(entry.next(TAG.sequence))
    entry.end()
    // § 5.3: the whole list is unusable with an unknown critical extension.
    if (extensions.some(({ oid, critical }) => critical && !KNOWN_OF_ENTRY.has(oid)))
      throw new CrlFault('an entry of it is limited in a way that is not known here')
    revoked.add(serial)
  }
  return revoked
}

const readExtensionList = ({ raw }: DerElement) => readExtensions({ tag: 0, content: raw, raw })

/** § 5.2.5. */
function readScope(value: Uint8Array): Pick<Crl, 'covers' | 'places'> {
  const reader = new DerReader(readDer(value, TAG.sequence).content)
  const name = reader.optional(context(0, { constructed: true }))
  const isSet = (tag: number) => {
    const flag = reader.optional(context(tag))
    return flag !== undefined && readBoolean(flag.content)
  }
  const others = isSet(1)
  const authorities = isSet(2)
  // The list is for some reasons only, indirect, or for attribute certificates.
  if (!reader.isDone) throw new CrlFault('it is limited in a way that is not known here')
  if (others && authorities) throw new CrlFault('it covers nothing')
  return {
    covers: others ? 'others' : authorities ? 'authorities' : 'all',
    places: name && readAll(name.content).flatMap(uriNames),
  }
}
