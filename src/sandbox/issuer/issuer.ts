// The sandbox issuer: one authority that test sessions trust, and one that they do not. Its state
// is JSON with private keys, which the service seals.
import type { Random } from '../../base/ids.ts'
import { crlUri, identifierListUri, statusListUri } from '../addresses.ts'
import type { Credential, Holder } from '../credential.ts'
import {
  type Document,
  mdlElements,
  personOf,
  photoIdElements,
  pidClaims,
  pidElements,
  proofOfAgeElements,
} from '../documents.ts'
import { type PublicJwk, publicJwk } from '../es256.ts'
import { type DocumentState, PERSONAS, type PersonaId } from '../personas.ts'
import {
  type Making,
  newAuthority,
  newCrl,
  newMdocSigner,
  newSdJwtSigner,
  type Party,
  privateJwkFrom,
  type World,
} from './certificates.ts'
import { identifierListCwt, newRevokedIdentifier } from './identifier-list.ts'
import type { Issuance } from './issuance.ts'
import { issueMdoc } from './issue-mdoc.ts'
import { issueSdJwt } from './issue-sd-jwt.ts'
import { newStatusReference, statusListCwt, statusListJwt } from './status-list.ts'

const DAY_MS = 86_400_000
/** Renewed early, so that no document outlives the certificate of its signer. */
const RENEW_DAYS_BEFORE = 90

export type IssuerState = { version: 1; publicUrl: string; trusted: World; untrusted: World }

export type Issuer = {
  /** DER of the root that test sessions trust. */
  readonly anchor: Uint8Array
  readonly anchorPem: string
  readonly statusListUri: string
  readonly identifierListUri: string
  readonly crlUri: string
  /** Documents of a persona, bound to the key. */
  issue(request: IssueRequest): Promise<Credential[]>
  /** `application/statuslist+jwt`. */
  statusListToken(now: number): Promise<string>
  /** `application/statuslist+cwt`. */
  statusListCwt(now: number): Promise<Uint8Array<ArrayBuffer>>
  /** `application/identifierlist+cwt`. */
  identifierList(now: number): Promise<Uint8Array<ArrayBuffer>>
  /** `application/pkix-crl`. */
  crl(now: number): Promise<Uint8Array<ArrayBuffer>>
}

type IssueRequest = { persona: PersonaId; holderKey: PublicJwk; now: number; random: Random }

export async function createIssuer(making: Making): Promise<IssuerState> {
  // Sequential, here and below: the same randomness gives the same keys.
  const trusted = await newAuthority('Vidimus Sandbox Root', making)
  const untrusted = await newAuthority('Unknown Sandbox Root', making)
  return withSigners({ trusted, untrusted }, making)
}

/** Keeps the roots, so that trust in them continues; signers are valid for about a year. Also used for a new public URL. */
export const renewSigners = ({ trusted, untrusted }: IssuerState, making: Making): Promise<IssuerState> =>
  withSigners({ trusted: trusted.authority, untrusted: untrusted.authority }, making)

export const renewalDueAt = ({ trusted }: IssuerState): number => trusted.mdocSigner.notAfter - RENEW_DAYS_BEFORE * DAY_MS

export function loadIssuer({ publicUrl, trusted, untrusted }: IssuerState): Issuer {
  const uri = statusListUri(publicUrl)
  const identifiersUri = identifierListUri(publicUrl)
  return {
    anchor: Buffer.from(trusted.authority.certificate, 'base64'),
    anchorPem: pem(trusted.authority.certificate),
    statusListUri: uri,
    identifierListUri: identifiersUri,
    crlUri: crlUri(publicUrl),
    statusListToken: now => statusListJwt({ signer: trusted.sdJwtSigner, uri, now }),
    statusListCwt: now => statusListCwt({ signer: trusted.sdJwtSigner, uri, now }),
    identifierList: now => identifierListCwt({ signer: trusted.sdJwtSigner, uri: identifiersUri, now }),
    crl: now => newCrl(trusted.authority, now),
    issue({ persona, holderKey, now, random }) {
      const { person, document: state, byIdentifier } = PERSONAS[persona]
      const world = state === 'untrusted' ? untrusted : trusted
      const validity = validityOf(state, now)
      const document = documentOf(person, { state, now, until: validity.until })
      // Each document has its own index, or two of them could be linked. Nobody asks for the list of an unknown issuer.
      const issuance = (): Issuance => ({
        random,
        issuer: `${publicUrl}/sandbox`,
        validity,
        status: state === 'untrusted' ? undefined : newStatusReference(uri, { isRevoked: state === 'revoked', random }),
        identifier: byIdentifier ? newRevokedIdentifier(identifiersUri, random) : undefined,
      })
      const mdoc = (doctype: string, elements: ReturnType<typeof pidElements>) =>
        issueMdoc(world, { doctype, elements, holderKey: publicJwk(holderKey), issuance: issuance() })
      return Promise.all([
        mdoc('eu.europa.ec.av.1', proofOfAgeElements(document)),
        issueSdJwt(world, {
          vct: 'urn:eudi:pid:1',
          claims: pidClaims(document),
          holderKey: publicJwk(holderKey),
          issuance: issuance(),
        }),
        mdoc('eu.europa.ec.eudi.pid.1', pidElements(document)),
        mdoc('org.iso.18013.5.1.mDL', mdlElements(document)),
        mdoc('org.iso.23220.photoID.1', photoIdElements(document)),
      ])
    },
  }
}

/** A wallet with new keys and all documents of the persona. */
export async function makeHolder(issuer: Issuer, persona: PersonaId, now: number, random: Random): Promise<Holder> {
  const deviceKey = privateJwkFrom(random)
  return { persona, deviceKey, credentials: await issuer.issue({ persona, holderKey: deviceKey, now, random }) }
}

async function withSigners(roots: { trusted: Party; untrusted: Party }, making: Making): Promise<IssuerState> {
  const trusted = await worldUnder(roots.trusted, making)
  const untrusted = await worldUnder(roots.untrusted, making)
  return { version: 1, publicUrl: making.publicUrl, trusted, untrusted }
}

async function worldUnder(authority: Party, making: Making): Promise<World> {
  const mdocSigner = await newMdocSigner(authority, making)
  const sdJwtSigner = await newSdJwtSigner(authority, making)
  return { authority, mdocSigner, sdJwtSigner }
}

function validityOf(state: DocumentState, now: number): Issuance['validity'] {
  const days = (count: number) => now + count * DAY_MS
  switch (state) {
    case 'expired':
      return { signed: days(-60), from: days(-60), until: days(-30) }
    case 'not_yet_valid':
      return { signed: days(-1), from: days(30), until: days(60) }
    case 'valid':
    case 'revoked':
    case 'untrusted':
      return { signed: days(-1), from: days(-1), until: days(30) }
  }
}

function documentOf(
  person: 'adult' | 'minor',
  { state, now, until }: { state: DocumentState; now: number; until: number },
): Document {
  const today = dayOf(now)
  const year = Number(today.slice(0, 4))
  const expiryDate = state === 'expired' ? dayOf(until) : `${year + 9}-01-14`
  return { person: personOf(person, today), today, issueDate: `${year - 1}-01-15`, expiryDate }
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const pem = (der: string): string =>
  `-----BEGIN CERTIFICATE-----\n${der.match(/.{1,64}/g)!.join('\n')}\n-----END CERTIFICATE-----\n`
