// What EU wallets want of a request, clause by clause. Ids never change their meaning. A clause without anything to judge does
// not apply. `sure` says whether its text was read here, or only reports of it.
import { createHash, X509Certificate } from 'node:crypto'
import { isObject, type Members } from '../../base/members.ts'
import { coverage } from '../../openid4vp/exchange/registration.ts'
import type { RegistrationForm } from '../../openid4vp/exchange/request-object.ts'
import { covers } from '../../openid4vp/trust/trust-anchor.ts'
import { describeCertificate } from '../../openid4vp/x509/x509.ts'
import { type BrokenRule, brokenRules } from '../../signing/access-profile.ts'
import { oneLine } from '../../signing/certificate.ts'
import { leadsTo } from '../../signing/import.ts'
import { ALIASES, FORMATS, formatsOf } from '../../templates/forms.ts'
import { askedBy } from '../../templates/minimise.ts'
import { PID } from '../registration-check.ts'
import { type DocRequest, listOf, type RequestObject } from './read.ts'
import type { Sample } from './request.ts'

const HOUR_MS = 3_600_000
const YEAR_MS = 366 * 24 * HOUR_MS
const LIFE_SECONDS_MAX = 3600
const COPIES_BYTES_MAX = 48 * 1024
const MDL = 'org.iso.18013.5.1.mDL'

/** What is not in the bytes, and what they are compared with. */
export type Facts = {
  at: number
  /** The access certificate is of an authority, not made by this service. */
  isImported: boolean
  /** Listed access authorities; PEM. */
  authorities: readonly string[]
  form: RegistrationForm
  /** What registrars say of registration certificates, by their JWT. */
  statuses: ReadonlyMap<string, 'valid' | 'revoked' | 'unknown'>
  publicUrl: string
  offersBrowsers: boolean
  readsInPerson: boolean
  /** Of the latest live sessions: those that lead back to the shop, and those of them that the answer alone releases. */
  returning: number
  loose: number
  anchors: readonly { source: string | null; trusted_for: string | null }[]
  maxAgeMs: number
  /** Lists of revoked documents can be fetched, or are kept. */
  hasLists: boolean
}

type Request = RequestObject & { subject: string; isRedirect: boolean; sample: Sample }
type Asking = Sample & { subject: string; documents: DocRequest[]; access: X509Certificate | undefined; jwt: string | undefined }
export type Scene = { facts: Facts; requests: Request[]; samples: Asking[] }

/** The pages have words for these; all else that is found is a value of the request itself. */
export type FoundCode =
  | BrokenRule
  | ('self_made' | 'not_valid' | 'no_path' | 'no_list' | 'no_end' | 'revoked' | 'unknown')
  | ('by_hand' | 'any_type' | 'first_only' | 'nobody')

/** What holds is undefined where nobody can say; after it comes what was found. */
type Judgement = [holds: boolean | undefined, ...found: (string | false | undefined)[]]
type Verdict = { judgement: Judgement; subject?: string }
type Clause = { level: 'must' | 'should'; sure: 'read' | 'second_hand'; judge: (scene: Scene) => Verdict[] }

type Level = Clause['level']
type Sure = Clause['sure']

/** A clause that each of these has to meet. */
const clauseOf =
  <T extends { subject: string }>(pick: (scene: Scene) => readonly T[]) =>
  (level: Level, sure: Sure, judge: (item: T, facts: Facts) => Judgement): Clause => ({
    level,
    sure,
    judge: scene => pick(scene).map(item => ({ judgement: judge(item, scene.facts), subject: item.subject })),
  })

const ofRequests = clauseOf(({ requests }) => requests)
const ofRedirects = clauseOf(({ requests }) => requests.filter(({ isRedirect }) => isRedirect))
const ofChains = clauseOf(({ requests }) => [...new Map(requests.map(request => [String(request.header.x5c), request])).values()])
const ofPapers = clauseOf(({ requests }) => requests.flatMap(each => (each.paper ? [{ ...each, paper: each.paper }] : [])))
const ofSamples = clauseOf(({ samples }) => samples)
const ofMdocs = clauseOf(({ samples }) => samples.filter(({ documents }) => documents.length > 0))
const ofRegisteredMdocs = clauseOf(({ samples }) =>
  samples.filter(({ documents, jwt }) => documents.length > 0 && jwt !== undefined),
)
const ofBrowsers = clauseOf(({ facts, samples }) => (facts.offersBrowsers ? samples : []))

/** A clause that the shop has to meet, once it asks EU wallets for something. */
const ofShop = (level: Level, sure: Sure, judge: (facts: Facts, scene: Scene) => Judgement | undefined): Clause => ({
  level,
  sure,
  judge(scene) {
    const judgement = scene.samples.length > 0 ? judge(scene.facts, scene) : undefined
    return judgement ? [{ judgement }] : []
  },
})

export const CLAUSES = {
  'eu.redirect.signed': ofRedirects('must', 'read', ({ header: { alg, typ }, isSigned, sample: { links } }) => [
    isSigned && alg === 'ES256' && typ === 'oauth-authz-req+jwt' && links[0]!.includes('request_uri='),
    `${alg} ${typ}`,
  ]),
  'eu.redirect.header-iat': ofRedirects('must', 'second_hand', ({ header: { iat }, claims }) => [
    iat !== undefined && iat === claims.iat,
    String(iat),
  ]),
  'eu.redirect.x5c': ofChains('must', 'read', isCleanChain),
  'eu.client-id': ofRequests('must', 'read', ({ chain: [leaf], claims: { client_id: id } }) => [
    id === `x509_hash:${createHash('sha256').update(leaf!.raw).digest('base64url')}`,
    String(id),
  ]),
  'eu.access-certificate': ofChains('must', 'read', isOfAuthority),
  'eu.access-profile': ofChains('should', 'second_hand', ({ chain: [leaf] }) => {
    const described = describeCertificate(leaf!.raw)
    const broken = described ? brokenRules(described) : undefined
    return [broken?.length === 0, ...(broken ?? [])]
  }),
  'eu.registration': ofRequests('must', 'second_hand', ({ claims, paper }, { form }) => {
    const info = listOf(claims.verifier_info)
    const isOne = info.length === 1 && isObject(info[0]) && info[0].format === 'registration_cert'
    return [isOne && paper?.form === form && !('credential_ids' in (info[0] as Members)), `verifier_info: ${info.length}`]
  }),
  'eu.registration.same-party': ofPapers('must', 'read', ({ paper: { holder }, chain: [leaf] }) => {
    const organization = describeCertificate(leaf!.raw)?.subjectAttributes.organizationIdentifier
    return [holder.toUpperCase() === organization?.toUpperCase(), holder, organization ?? 'no_identifier']
  }),
  'eu.registration.scope': ofPapers('must', 'read', ({ paper, sample: { query } }) => {
    const { asked, covered } = coverage(paper.credentials, query)
    return [covered === asked, `${covered}/${asked}`]
  }),
  'eu.registration.current': ofPapers('must', 'read', isCurrent),
  'eu.registration.data-form': ofPapers('should', 'second_hand', ({ paper }, { form }) => [paper.form === form, paper.form]),
  'eu.metadata.keys': ofRequests('must', 'read', hasGoodKeys),
  'eu.response.encrypted': ofRequests('must', 'read', ({ claims: { response_mode: mode }, isRedirect }) => [
    mode === (isRedirect ? 'direct_post.jwt' : 'dc_api.jwt'),
    String(mode),
  ]),
  'eu.aud': ofRequests('must', 'read', ({ claims: { aud } }) => [aud === 'https://self-issued.me/v2', String(aud)]),
  'eu.expiry': ofRequests('should', 'read', ({ claims: { iat, exp } }, { at }) => {
    const [begin, end] = [Number(iat), Number(exp)]
    return [begin * 1000 <= at && at < end * 1000 && end - begin <= LIFE_SECONDS_MAX, `${end - begin} s`]
  }),
  'eu.link': ofSamples('should', 'second_hand', ({ links }) => [
    links.some(link => link.startsWith('eu-eaap://')),
    links.map(link => link.split(':', 1)[0]).join(' '),
  ]),
  'eu.same-device': ofShop('should', 'read', ({ returning, loose }) =>
    returning > 0 ? [loose === 0, `${returning - loose}/${returning}`] : undefined,
  ),
  'eu.cross-device': ofShop('should', 'second_hand', ({ publicUrl, readsInPerson }, { samples }) => [
    readsInPerson || (publicUrl.startsWith('https:') && samples.some(({ browser }) => browser !== undefined)),
    publicUrl,
  ]),
  'eu.dc-api.signed': ofBrowsers('must', 'second_hand', ({ browser, protocols }) => [browser !== undefined, protocols.join(' ')]),
  'eu.iso.reader-auth': ofMdocs('must', 'second_hand', ({ documents, access }) => {
    const signers = new Set(documents.map(({ signer }) => (signer ? oneLine(signer.subject) : 'nobody')))
    return [access !== undefined && documents.every(({ signer }) => signer?.raw.equals(access.raw)), ...signers]
  }),
  'eu.iso.wrprc': ofRegisteredMdocs('must', 'second_hand', hasEqualCopies),
  'eu.formats': ofSamples('should', 'read', ({ template, query }) => {
    const formats = formatsOf(query)
    // A name for one form says so. PIDs exist in both, and nobody knows which of them a customer has.
    const isFree = ALIASES.has(template) || !typesOf(query).some(type => PID.test(type))
    return [isFree || formats.length === FORMATS.length, formats.join(', ')]
  }),
  'eu.trust.pid': ofShop(
    'must',
    'read',
    trustIn(type => PID.test(type)),
  ),
  'eu.trust.mdl': ofShop(
    'must',
    'read',
    trustIn(type => type === MDL),
  ),
  'eu.revocation': ofShop('must', 'read', ({ hasLists, maxAgeMs }) => [
    hasLists,
    `VIDIMUS_STATUS_MAX_AGE=${maxAgeMs / HOUR_MS}h`,
  ]),
  'eu.unlinkable-key': ofShop('must', 'read', (_, { requests }) => {
    const keys = requests.flatMap(keysOf).map(({ x }) => x)
    return keys.length > 0 ? [new Set(keys).size === keys.length, `jwks: ${keys.length}`] : undefined
  }),
} satisfies Record<string, Clause>

export type ClauseId = keyof typeof CLAUSES

/** Each certificate is issued by the next, and none is an anchor or self-signed (HAIP § 5). */
function isCleanChain({ chain }: Request, { authorities }: Facts): Judgement {
  const isLinked = chain.every(
    (one, i) => !chain[i + 1] || (one.checkIssued(chain[i + 1]!) && one.verify(chain[i + 1]!.publicKey)),
  )
  const listed = new Set(authorities.map(pem => new X509Certificate(pem).fingerprint256))
  const isBelow = !chain.some(one => one.checkIssued(one) || listed.has(one.fingerprint256))
  return [isLinked && isBelow, chain.map(({ subject }) => oneLine(subject)).join(' < ')]
}

function isOfAuthority({ chain }: Request, { at, authorities, isImported }: Facts): Judgement {
  const isValid = chain.every(({ validFromDate, validToDate }) => validFromDate.getTime() <= at && at < validToDate.getTime())
  if (!isImported || !isValid) return [false, !isImported && 'self_made', !isValid && 'not_valid']
  if (authorities.length === 0) return [undefined, 'no_list']
  const isListed = leadsTo(chain, authorities)
  return [isListed, !isListed && 'no_path']
}

function isCurrent({ paper }: { paper: NonNullable<RequestObject['paper']> }, { at, statuses }: Facts): Judgement {
  const { jwt, notBefore, notAfter } = paper
  if (notAfter === null) return [false, 'no_end']
  const begin = notBefore ?? at
  const status = statuses.get(jwt) ?? 'unknown'
  const holds = begin <= at && at < notAfter && notAfter - begin <= YEAR_MS && status !== 'revoked'
  const day = new Date(notAfter).toISOString().slice(0, 10)
  return [holds && status === 'unknown' ? undefined : holds, day, status !== 'valid' && status]
}

function hasGoodKeys(request: Request): Judgement {
  const keys = keysOf(request)
  const areGood = keys.every(({ use, crv, alg, kid, d }) => use === 'enc' && crv === 'P-256' && alg === 'ECDH-ES' && kid && !d)
  const areNamed = keys.length > 0 && new Set(keys.map(({ kid }) => kid)).size === keys.length
  const encodings = listOf(metadataOf(request).encrypted_response_enc_values_supported)
  const hasBoth = encodings.includes('A128GCM') && encodings.includes('A256GCM')
  return [areGood && areNamed && hasBoth, `jwks: ${keys.length}`, encodings.join(' ')]
}

const metadataOf = ({ claims: { client_metadata: metadata } }: Request): Members => (isObject(metadata) ? metadata : {})

function keysOf(request: Request): Members[] {
  const { jwks } = metadataOf(request)
  return listOf(isObject(jwks) ? jwks.keys : undefined).filter(isObject)
}

/** Long ones stand in the first document request alone. */
function hasEqualCopies({ documents, jwt = '' }: Asking): Judgement {
  const copies = documents.map(({ certificate }) => certificate && Buffer.from(certificate).toString())
  const isFirstOnly = copies.length * jwt.length > COPIES_BYTES_MAX && copies.slice(1).every(copy => copy === undefined)
  return [copies.slice(0, isFirstOnly ? 1 : undefined).every(copy => copy === jwt), isFirstOnly && 'first_only']
}

const typesOf = (query: Sample['query']): string[] => askedBy(query).flatMap(({ types }) => types)

/** Issuers of each kind of documents come from its own list (ARF OIA_12 to 15). One kind of a template's is enough. */
function trustIn(isOfKind: (type: string) => boolean) {
  return ({ anchors }: Facts, { samples }: Scene): Judgement | undefined => {
    const trustedFor = (types: string[]) => anchors.filter(({ trusted_for }) => types.some(type => covers(trusted_for, type)))
    const asked = samples.map(({ query }) => typesOf(query)).filter(types => types.some(isOfKind))
    const trusted = trustedFor(asked.flat().filter(isOfKind))
    if (trusted.length === 0) return asked.every(types => trustedFor(types).length > 0) ? undefined : [false, 'nobody']
    const isByHand = trusted.some(({ source }) => source === null)
    const isMixed = trusted.some(({ trusted_for }) => trusted_for === null)
    return [!isByHand && !isMixed, isByHand && 'by_hand', isMixed && 'any_type']
  }
}
