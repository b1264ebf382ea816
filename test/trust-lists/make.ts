// Makes and signs small lists whose every part a test can choose. What is not chosen is that of a plain, valid list of now.
// Nothing here is from the service but the encoding of text.
import { constants, createHash, KeyObject, sign } from 'node:crypto'
import type { Extension } from '@peculiar/x509'
import {
  DAY_MS,
  type Issued,
  issue,
  issueAuthority,
  makeKeys,
  NOW,
  pemOf,
  purposes,
  Usage,
  usages,
} from '../helpers/certificates.ts'
import { cbor, Tagged } from '../helpers/mdoc.ts'

/** ISO/IEC 18013-5 Annex C: signer of a VICAL. */
export const VICAL_SIGNER = '1.0.18013.5.1.8'
export const MDL = 'org.iso.18013.5.1.mDL'

const KEYS = {
  'P-256': { name: 'ECDSA', namedCurve: 'P-256' },
  'P-384': { name: 'ECDSA', namedCurve: 'P-384' },
  'P-521': { name: 'ECDSA', namedCurve: 'P-521' },
  Ed25519: { name: 'Ed25519' },
  RSA: { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' },
  'RSA-1024': { name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' },
}
type KeyKind = keyof typeof KEYS

export type ListSigner = Issued & {
  kind: KeyKind
  /** DER, the signer first: what a list carries. */
  chain: Uint8Array[]
  /** SHA-256 of the certificate, in hex. */
  fingerprint: string
  pem: string
}

export type WantedSigner = {
  kind?: KeyKind
  name?: string
  /** Self-signed without one. */
  issuer?: Issued
  /** Certificates that the list carries after the signer's. */
  above?: readonly Issued[]
  purposes?: string[]
  extensions?: Extension[]
  notBefore?: number
  notAfter?: number
}

/** The signer of a list: of a VICAL too unless it has other purposes. */
export async function makeSigner(wanted: WantedSigner = {}): Promise<ListSigner> {
  const { kind = 'P-256', name = 'C=EU, O=Test Operator, CN=Test List Signer', above = [] } = wanted
  const keys = await makeKeys(KEYS[kind] as EcKeyGenParams)
  const extensions = wanted.extensions ?? [usages(Usage.digitalSignature), purposes(wanted.purposes ?? [VICAL_SIGNER])]
  const { issuer, notBefore, notAfter } = wanted
  const issued = await issue({
    name,
    keys,
    extensions,
    ...(issuer && { issuer }),
    ...(notBefore !== undefined && { notBefore }),
    ...(notAfter !== undefined && { notAfter }),
  })
  return {
    ...issued,
    kind,
    chain: [issued, ...above].map(({ der }) => der),
    fingerprint: fingerprintOf(issued.der),
    pem: pemOf(issued.der),
  }
}

let roots = 0

/** A root of an issuer, valid for years around now unless `wanted` says otherwise. */
export const makeIssuer = (wanted: Parameters<typeof issueAuthority>[0] = {}): Promise<Issued> =>
  issueAuthority({ name: `C=UT, CN=Listed Root ${++roots}`, notAfter: NOW + 3000 * DAY_MS, ...wanted })

export const fingerprintOf = (der: Uint8Array): string => createHash('sha256').update(der).digest('hex')

export type VicalEntry = {
  certificate: Uint8Array
  docTypes?: readonly string[]
  authority?: string
  /** Further members of the entry, or others. */
  members?: Record<string, unknown>
}

export type WantedVical = {
  provider?: string
  /** Milliseconds. */
  date?: number
  /** Left out when null. */
  nextUpdate?: number | null
  issueId?: number
  entries?: readonly VicalEntry[]
  /** Further members of the list, or others; an undefined one is left out. */
  members?: Record<string, unknown>
}

export type VicalSpoilt = {
  /** COSE algorithm; that of the key if not given. */
  alg?: number
  protectedHeader?: [number, unknown][]
  unprotectedHeader?: [number, unknown][]
  chain?: readonly Uint8Array[]
  isTagged?: boolean
  isDetached?: boolean
  signature?: (signature: Uint8Array) => Uint8Array
  /** Other bytes in place of the signed ones. */
  payload?: (payload: Uint8Array) => Uint8Array
}

const COSE_ALGS: Record<KeyKind, number> = { 'P-256': -7, 'P-384': -35, 'P-521': -36, Ed25519: -8, RSA: -257, 'RSA-1024': -257 }
const HASHES: Record<KeyKind, string | null> = {
  'P-256': 'sha256',
  'P-384': 'sha384',
  'P-521': 'sha512',
  Ed25519: null,
  RSA: 'sha256',
  'RSA-1024': 'sha256',
}
const X5CHAIN = 33

export function makeVical(wanted: WantedVical, signer: ListSigner, spoilt: VicalSpoilt = {}): Uint8Array<ArrayBuffer> {
  const { provider = 'Test Provider', date = NOW - DAY_MS, nextUpdate = NOW + 30 * DAY_MS, issueId = 1, entries = [] } = wanted
  const payload = cbor(
    present({
      version: '1.0',
      vicalProvider: provider,
      date: dateTime(date),
      vicalIssueID: issueId,
      nextUpdate: nextUpdate === null ? undefined : dateTime(nextUpdate),
      certificateInfos: entries.map(({ certificate, docTypes = [MDL], authority = 'Test Authority', members }) =>
        present({ certificate, docType: docTypes, issuingAuthority: authority, ...members }),
      ),
      ...wanted.members,
    }),
  )
  const header = cbor(
    new Map([[1, spoilt.alg ?? COSE_ALGS[signer.kind]], ...(spoilt.protectedHeader ?? [])] as [number, unknown][]),
  )
  const chain = spoilt.chain ?? signer.chain
  const x5chain: [number, unknown][] = chain.length > 0 ? [[X5CHAIN, chain.length === 1 ? chain[0] : chain]] : []
  const signature = signWith(signer, cbor(['Signature1', header, new Uint8Array(), payload]), { hash: HASHES[signer.kind] })
  const sign1 = [
    header,
    new Map(spoilt.unprotectedHeader ?? x5chain),
    spoilt.isDetached ? null : (spoilt.payload?.(payload) ?? payload),
    spoilt.signature?.(signature) ?? signature,
  ]
  return cbor(spoilt.isTagged ? new Tagged(18, sign1) : sign1)
}

const dateTime = (ms: number): Tagged => new Tagged(0, isoSecond(ms))

const isoSecond = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** Without its undefined members. */
const present = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

type Signing = { hash: string | null; pss?: boolean }

function signWith({ keys }: ListSigner, bytes: Uint8Array, { hash, pss = false }: Signing): Uint8Array {
  const padding = pss && { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
  return sign(hash, bytes, { key: KeyObject.from(keys.privateKey), dsaEncoding: 'ieee-p1363', ...padding })
}

const LOTE_TYPES = 'http://uri.etsi.org/19602/LoTEType'
export const LOTE = {
  pid: `${LOTE_TYPES}/EUPIDProvidersList`,
  pubEaa: `${LOTE_TYPES}/EUPubEAAProvidersList`,
  wallets: `${LOTE_TYPES}/EUWalletProvidersList`,
  wrpac: `${LOTE_TYPES}/EUWRPACProvidersList`,
  mdl: 'http://trust.ec.europa.eu/lists/mDL/mDLProvidersListType',
}
const SERVICES = 'http://uri.etsi.org/19602/SvcType'
export const SERVICE = {
  pidIssuance: `${SERVICES}/PID/Issuance`,
  pidRevocation: `${SERVICES}/PID/Revocation`,
  pubEaaIssuance: `${SERVICES}/PubEAA/Issuance`,
  wrpacIssuance: `${SERVICES}/WRPAC/Issuance`,
  mdlIssuance: 'http://trust.ec.europa.eu/lists/mDL/SvcType/Issuance',
}
export const STATUS = {
  notified: 'http://uri.etsi.org/19602/PubEAAProvidersList/SvcStatus/notified',
  withdrawn: 'http://uri.etsi.org/19602/PubEAAProvidersList/SvcStatus/withdrawn',
}

export type LoteService = {
  type?: string
  status?: string
  /** Milliseconds. */
  since?: number
  certificates?: readonly Uint8Array[]
  /** Further members of the service's information, or others. */
  members?: Record<string, unknown>
  history?: unknown[]
}

export type LoteEntity = {
  name?: string
  /** The end of its role address, as in annex D. */
  role?: string
  /** Of its postal address. */
  country?: string
  services?: readonly LoteService[]
  members?: Record<string, unknown>
}

export type WantedLote = {
  type?: string
  territory?: string
  sequence?: number
  issuedAt?: number
  /** Left out when null. */
  nextUpdate?: number | null
  entities?: readonly LoteEntity[]
  /** The signers of each list that it points to; its own type and territory if not given. */
  pointers?: readonly { type?: string; territory?: string; certificates: readonly Uint8Array[] }[]
  /** Further members of the scheme information, or others; an undefined one is left out. */
  members?: Record<string, unknown>
  /** Without the member `LoTE` around it. */
  isBare?: boolean
}

export type LoteSpoilt = {
  alg?: string
  /** Further header members, or others; an undefined one is left out. */
  header?: Record<string, unknown>
  chain?: readonly Uint8Array[]
  /** The payload's text. */
  text?: (text: string) => string
  form?: 'compact' | 'flattened' | 'general'
  /** Of the JSON forms. */
  unprotected?: Record<string, unknown>
  /** The general form has it twice. */
  isSignedTwice?: boolean
  /** After signing. */
  payload?: (text: string) => string
  signature?: (signature: Uint8Array) => Uint8Array
  /** Algorithm of the signature itself, where it differs from the header's. */
  signedBy?: Signing
}

const JWS_ALGS: Record<KeyKind, string> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  Ed25519: 'EdDSA',
  RSA: 'RS256',
  'RSA-1024': 'RS256',
}

export function makeLote(wanted: WantedLote, signer: ListSigner, spoilt: LoteSpoilt = {}): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify(lotePayload(wanted))
  const alg = spoilt.alg ?? JWS_ALGS[signer.kind]
  const x5c = (spoilt.chain ?? signer.chain).map(base64)
  const header = base64url(JSON.stringify(present({ alg, typ: 'JOSE', x5c, ...spoilt.header })))
  const payload = base64url(spoilt.text?.(text) ?? text)
  const signing = spoilt.signedBy ?? { hash: hashOf(alg, signer.kind), pss: alg.startsWith('PS') }
  const raw = signWith(signer, Buffer.from(`${header}.${payload}`), signing)
  const signature = base64url(spoilt.signature?.(raw) ?? raw)
  const sent = spoilt.payload ? base64url(spoilt.payload(text)) : payload
  if (spoilt.form === undefined || spoilt.form === 'compact') return Buffer.from(`${header}.${sent}.${signature}`)
  const one = present({ protected: header, signature, header: spoilt.unprotected })
  const signatures = spoilt.isSignedTwice ? [one, one] : [one]
  return Buffer.from(JSON.stringify({ payload: sent, ...(spoilt.form === 'general' ? { signatures } : one) }))
}

const hashOf = (alg: string, kind: KeyKind): string | null =>
  /(?:256|384|512)$/.test(alg) ? `sha${alg.slice(-3)}` : HASHES[kind]

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const base64url = (content: Uint8Array | string): string => Buffer.from(content).toString('base64url')

function lotePayload(wanted: WantedLote): object {
  const { type = LOTE.pid, territory = 'EU', sequence = 1, issuedAt = NOW - DAY_MS, nextUpdate = NOW + 90 * DAY_MS } = wanted
  const lote = {
    ListAndSchemeInformation: present({
      LoTEVersionIdentifier: 1,
      LoTESequenceNumber: sequence,
      LoTEType: type,
      SchemeOperatorName: english('Test Operator'),
      SchemeName: english('Test List'),
      SchemeTerritory: territory,
      ListIssueDateTime: isoSecond(issuedAt),
      NextUpdate: nextUpdate === null ? undefined : isoSecond(nextUpdate),
      PointersToOtherLoTE: wanted.pointers?.map(pointer => ({
        LoTELocation: 'https://lists.example/list.jwt',
        ServiceDigitalIdentities: pointer.certificates.map(x509),
        LoTEQualifiers: [{ LoTEType: pointer.type ?? type, SchemeTerritory: pointer.territory ?? territory }],
      })),
      ...wanted.members,
    }),
    TrustedEntitiesList: (wanted.entities ?? []).map(entityOf),
  }
  return wanted.isBare ? lote : { LoTE: lote }
}

function entityOf({ name = 'Test Entity', role, country, services = [], members }: LoteEntity): object {
  const roles = role ? [{ lang: 'en', uriValue: `http://uri.etsi.org/19602/ListOfTrustedEntities/PIDProvider/${role}` }] : []
  return {
    TrustedEntityInformation: present({
      TEName: english(name),
      TEAddress: country && { TEPostalAddress: [{ lang: 'en', StreetAddress: 'Street 1', Country: country }] },
      TEInformationURI: [{ lang: 'en', uriValue: 'https://entity.example' }, ...roles],
      ...members,
    }),
    TrustedEntityServices: services.map(serviceOf),
  }
}

function serviceOf({ type = SERVICE.pidIssuance, status, since, certificates = [], members, history }: LoteService): object {
  return present({
    ServiceInformation: present({
      ServiceName: english('Test Service'),
      ServiceTypeIdentifier: type,
      ServiceStatus: status,
      StatusStartingTime: since === undefined ? undefined : isoSecond(since),
      ServiceDigitalIdentity: { X509Certificates: certificates.map(der => ({ val: base64(der) })) },
      ...members,
    }),
    ServiceHistory: history,
  })
}

const english = (value: string): object[] => [{ lang: 'en', value }]
const x509 = (der: Uint8Array): object => ({ X509Certificates: [{ val: base64(der) }] })
