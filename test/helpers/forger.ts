// An issuer whose every part a test can choose, down to the certificates, the header and the bytes that are hashed. What is not
// chosen is that of a plain, valid credential. The wallet of the sandbox presents the result.
import { hash } from 'node:crypto'
import { toBase64Url } from '../../src/sandbox/bytes.ts'
import { COSE_X5CHAIN, coseKey, coseSign1, x5chain } from '../../src/sandbox/cose.ts'
import type { MdocCredential, SdJwtCredential } from '../../src/sandbox/credential.ts'
import { newPrivateJwk, type PrivateJwk, type PublicJwk, publicJwk, signJwt } from '../../src/sandbox/es256.ts'
import type { Json } from '../../src/sandbox/json.ts'
import type { Credential, Holder } from '../../src/sandbox/wallet/wallet.ts'
import { addAnchors, type NewAnchor } from '../../src/trust/settings.ts'
import { NOON, type TestApp } from './app.ts'
import {
  authorityKey,
  crlPoint,
  DAY_MS,
  DOCUMENT_SIGNER,
  type Issued,
  isAuthority,
  issue,
  issueAuthority,
  issuerAltName,
  keyIdentifier,
  makeKeys,
  pemOf,
  purposes,
  signsCertificates,
  Usage,
  usages,
  type Wanted,
} from './certificates.ts'
import { cbor, embedded, Tagged } from './mdoc.ts'

/** While the clock of a test's service is at its noon. */
export const AROUND_NOON = { notBefore: NOON - 30 * DAY_MS, notAfter: NOON + 300 * DAY_MS }

/** `chain` is sent, leaf first; `root` is what an operator would trust. */
export type Signer = { key: PrivateJwk; chain: Uint8Array[]; root: Uint8Array }

export async function signerFrom(leaf: Issued, { above = [], root }: { above?: Issued[]; root: Issued }): Promise<Signer> {
  const { x, y, d } = await crypto.subtle.exportKey('jwk', leaf.keys.privateKey)
  return { key: { kty: 'EC', crv: 'P-256', x: x!, y: y!, d: d! }, chain: [leaf, ...above].map(({ der }) => der), root: root.der }
}

let authorities = 0

/** No two have the same name: a chain is linked by names. */
export const newRoot = (wanted: Parameters<typeof issueAuthority>[0] = {}): Promise<Issued> =>
  issueAuthority({ ...AROUND_NOON, name: `C=UT, CN=Forged Root ${++authorities}`, ...wanted })

export async function newLeaf(issuer: Issued, wanted: Wanted = {}): Promise<Issued> {
  const extensions = [usages(Usage.digitalSignature), await authorityKey(issuer.keys)]
  return issue({ ...AROUND_NOON, name: 'C=UT, CN=Forged Signer', issuer, extensions, ...wanted })
}

/** A leaf under a root of its own. */
export async function forgeSigner(leaf: Wanted = {}): Promise<Signer> {
  const root = await newRoot()
  return signerFrom(await newLeaf(root, leaf), { root })
}

export type IsoWish = { purpose?: string; country?: string; pathLength?: number; days?: number; crl?: string[] }

/** A document signer as ISO/IEC 18013-5 Annex B has it, except for the wish. `crl` are the addresses of its list. */
export async function forgeIsoSigner(wish: IsoWish = {}): Promise<{ signer: Signer; root: Issued }> {
  const { purpose = DOCUMENT_SIGNER, country = 'UT', pathLength = 0, days = 330, crl = [] } = wish
  const [keys, own] = [await makeKeys(), await makeKeys()]
  const both = [issuerAltName(), await keyIdentifier(keys)]
  const root = await newRoot({ keys, extensions: [isAuthority(pathLength), signsCertificates(), ...both, crlPoint()] })
  const extensions = [usages(Usage.digitalSignature), purposes([purpose]), await authorityKey(keys), await keyIdentifier(own)]
  const leaf = await newLeaf(root, {
    keys: own,
    name: `C=${country}, CN=Forged Document Signer`,
    notAfter: AROUND_NOON.notBefore + days * DAY_MS,
    extensions: [...extensions, issuerAltName(), crlPoint(...crl)],
  })
  return { signer: await signerFrom(leaf, { root }), root }
}

/** A holder of one PID with exactly these claims. */
export const holderOfPid = (by: Signer, claims: object, wish: SdJwtWish = {}): Promise<Holder> =>
  holderWith(async key => [await forgeSdJwt(by, key, { vct: PID, claims: { ...claims }, ...wish })])

/** As `vidimus trust add --mode pkix` does it: what is forged here does not follow ISO/IEC 18013-5 unless a test says so. */
export async function trust(app: TestApp, { root }: Pick<Signer, 'root'>, options: Partial<NewAnchor> = {}): Promise<void> {
  await addAnchors(app.deps, { pem: pemOf(root), environment: 'test', mode: 'pkix', ...options }, 'test')
}

export async function holderWith(issueFor: (key: PublicJwk) => Promise<Credential[]>): Promise<Holder> {
  const deviceKey = await newPrivateJwk()
  return { persona: 'adult', deviceKey, credentials: await issueFor(publicJwk(deviceKey)) }
}

/** A disclosure that is shown whatever was asked for. */
export const alwaysShown = (content: unknown): string => encodeJson(content)

export const encodeJson = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

export const digestOf = (text: string): string => hash('sha256', text, 'base64url')

const PERSON = { family_name: 'Mustermann', given_name: 'Erika', birthdate: '1990-08-12' }
export const PID = 'urn:eudi:pid:1'
export const MDL = 'org.iso.18013.5.1.mDL'
export const MDL_NAMESPACE = 'org.iso.18013.5.1'

export type SdJwtWish = {
  vct?: string
  header?: Record<string, unknown>
  /** Further members, or others; an undefined one is left out. */
  payload?: Record<string, unknown>
  /** Concealed, each on the top level. */
  claims?: Record<string, unknown>
  /** Beside those of `claims`; shown, and signed only as far as `digests` says. */
  disclosures?: string[]
  /** Further digests on the top level. */
  digests?: string[]
  key?: PrivateJwk
}

const seconds = (days: number): number => Math.floor((NOON + days * DAY_MS) / 1000)

export async function forgeSdJwt(signer: Signer, holderKey: PublicJwk, wish: SdJwtWish = {}): Promise<SdJwtCredential> {
  const { vct = PID, claims = PERSON, disclosures = [], digests = [] } = wish
  const own = Object.entries(claims).map(([name, value], i) => ({ name, text: encodeJson([`salt-${i}`, name, value]) }))
  const open = { vct, iat: seconds(-1), exp: seconds(30), cnf: { jwk: publicJwk(holderKey) } }
  const header = { typ: 'dc+sd-jwt', x5c: signer.chain.map(der => Buffer.from(der).toString('base64')), ...wish.header }
  const payload = { ...open, _sd_alg: 'sha-256', _sd: [...own.map(({ text }) => digestOf(text)), ...digests], ...wish.payload }
  // The library that the wallet presents with loses a claim of this name.
  const texts = (isLost: boolean) => own.filter(({ name }) => (name === '__proto__') === isLost).map(({ text }) => text)
  return {
    format: 'dc+sd-jwt',
    type: vct,
    claims: { ...(claims as Record<string, Json>) },
    authorityKeyIds: [],
    sdJwt: `${[await signJwt(wish.key ?? signer.key, header, payload), ...texts(false)].join('~')}~`,
    alsoShown: [...texts(true), ...disclosures],
  }
}

export type ForgedElement = readonly [namespace: string, element: string, value: unknown]

const ELEMENTS: ForgedElement[] = Object.entries({ ...PERSON, issuing_country: 'UT' }).map(([name, value]) => [
  MDL_NAMESPACE,
  name === 'birthdate' ? 'birth_date' : name,
  name === 'birthdate' ? new Tagged(1004, value) : value,
])

export type MdocWish = {
  doctype?: string
  elements?: readonly ForgedElement[]
  /** In the order of its members; an undefined one is left out. */
  mso?: Record<string, unknown>
  /** In days from noon. */
  validity?: { signed?: number; from?: number; until?: number }
  keyAuthorizations?: unknown
  /** Shown, but never signed. */
  unsigned?: readonly ForgedElement[]
}

export async function forgeMdoc(signer: Signer, holderKey: PublicJwk, wish: MdocWish = {}): Promise<MdocCredential> {
  const { doctype = MDL, elements = ELEMENTS, unsigned = [], validity = {} } = wish
  const all = [...elements, ...unsigned].map(([namespace, element, value], digestID) => ({
    at: [namespace, element] as const,
    digestID,
    bytes: cbor(embedded({ digestID, random: Buffer.alloc(16, digestID), elementIdentifier: element, elementValue: value })),
  }))
  const valueDigests = new Map<string, Map<number, Uint8Array>>()
  for (const { at, digestID, bytes } of all.slice(0, elements.length)) {
    valueDigests.set(at[0], (valueDigests.get(at[0]) ?? new Map()).set(digestID, hash('sha256', bytes, 'buffer')))
  }
  const mso = present({
    version: '1.0',
    digestAlgorithm: 'SHA-256',
    valueDigests,
    deviceKeyInfo: present({ deviceKey: coseKey(holderKey), keyAuthorizations: wish.keyAuthorizations }),
    docType: doctype,
    validityInfo: {
      signed: dateTime(validity.signed ?? -1),
      validFrom: dateTime(validity.from ?? -1),
      validUntil: dateTime(validity.until ?? 30),
    },
    ...wish.mso,
  })
  const issuerAuth = await coseSign1({
    key: signer.key,
    payload: cbor(embedded(mso)),
    unprotectedHeader: new Map([[COSE_X5CHAIN, x5chain(signer.chain)]]),
  })
  return {
    format: 'mso_mdoc',
    type: doctype,
    // Only which elements there are matters to the wallet.
    claims: groupNames(all.map(({ at }) => at)),
    authorityKeyIds: [],
    issuerAuth: toBase64Url(cbor(issuerAuth)),
    items: all.map(({ at, bytes }) => ({ at, encoded: toBase64Url(bytes) })),
  }
}

/** Without its undefined members. */
const present = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

function groupNames(names: readonly (readonly [string, string])[]): Record<string, Record<string, Json>> {
  const grouped: Record<string, Record<string, Json>> = {}
  for (const [namespace, element] of names) grouped[namespace] = { ...grouped[namespace], [element]: 'x' }
  return grouped
}

const dateTime = (days: number): Tagged => new Tagged(0, `${new Date(NOON + days * DAY_MS).toISOString().slice(0, 19)}Z`)
