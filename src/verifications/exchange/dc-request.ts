import { isoUtc } from '../../base/time.ts'
import { readBody } from '../../http/body.ts'
import type { DcqlQuery } from '../../openid4vp/dcql/dcql.ts'
import { type DcProtocol, signedRequestClaims, unsignedRequest } from '../../openid4vp/exchange/dc-request.ts'
import { type DeviceRequestParts, partsForBrowsers } from '../../openid4vp/exchange/device-request.ts'
import { requestForBrowsers } from '../../openid4vp/exchange/reader-auth.ts'
import { signRequest } from '../../openid4vp/exchange/request-object.ts'
import { isoDcApiTranscript } from '../../openid4vp/exchange/session-transcript.ts'
import { signatoriesOf } from '../../signing/signatories.ts'
import { preferredLanguage } from '../../words/languages.ts'
import type { OpenSession } from '../read.ts'
import { type AskingSession, askingOf, logLongRegistration, registrationFor } from './asked.ts'
import { type Door, openSessionOf, originOf, refuseUnlisted } from './dc-door.ts'
import { type DcEntry, keepDcEntry } from './dc-entries.ts'
import { type DcRequests, PageRequest, ServerRequest } from './dc-schema.ts'
import type { Deps } from './deps.ts'

/** The requests of a session for one origin. Repeatable: nonce and keys stay the same, signatures are made anew. */
export async function dcRequests(deps: Deps, door: Door): Promise<DcRequests> {
  const session = await openSessionOf(deps, door)
  const { origin, protocols } = await readAsking(deps, session, door)
  const { query } = await askingOf(deps, session, preferredLanguage(door.request.headers.get('accept-language')))
  const registration = await registrationFor(deps, session, query)
  const asked = { query, registration, device: partsForBrowsers(query, registration) }
  logLongRegistration(deps, session, asked.device)
  const possible = await protocolsOf(deps, session, asked)
  const wanted = protocols ? possible.filter(protocol => protocols.includes(protocol)) : possible
  const entry = wanted.length > 0 ? await keepDcEntry(deps, session, origin, possible) : undefined
  const requests = await Promise.all(
    entry ? wanted.map(async protocol => ({ protocol, data: await dataOf(deps, session, asked, entry, protocol) })) : [],
  )
  for (const { protocol } of requests) deps.metrics.count('vidimus_dc_requests_total', { protocol })
  return { origin, environment: session.environment, expires_at: isoUtc(session.expiresAt), requests }
}

/** `device` is undefined where the query cannot be asked by Annex C. */
type RequestInput = { query: DcqlQuery; registration: string | undefined; device: DeviceRequestParts | undefined }

type Asking = { origin: string; protocols?: string[] }

/** A page is refused before its body is read; a server says in the body who asks. */
async function readAsking(deps: Deps, session: OpenSession, { request, owner }: Door): Promise<Asking> {
  if (owner) {
    const asking = await readBody(request, ServerRequest)
    await refuseUnlisted(deps, session, asking.origin)
    return asking
  }
  const origin = originOf(request)
  await refuseUnlisted(deps, session, origin)
  return { origin, ...(await readBody(request, PageRequest)) }
}

/** Protocols in the order of preference: wallets take the first that they understand. */
export async function protocolsOf(
  deps: Deps,
  session: AskingSession,
  { device }: Pick<RequestInput, 'device'>,
): Promise<DcProtocol[]> {
  const { mode } = deps.config.dcApi
  if (mode === 'off') return []
  const iso: DcProtocol[] = device ? ['org-iso-mdoc'] : []
  // The EU age app takes Annex C, without a reader's identity.
  if (mode === 'iso' || session.profile === 'eu-av') return iso
  // A signature by a key that no wallet knows protects nobody.
  const isSigned = mode === 'signed' || (mode === 'auto' && !(await deps.requestSigner(session.signingKeyId)).isSelfMade)
  return [isSigned ? 'openid4vp-v1-signed' : 'openid4vp-v1-unsigned', ...iso]
}

export async function dataOf(
  deps: Deps,
  session: AskingSession,
  { query, registration, device }: RequestInput,
  entry: DcEntry,
  protocol: DcProtocol,
) {
  const { d: _, ...encryptionKey } = entry.key
  const asked = { nonce: entry.nonce, query, encryptionKey }
  switch (protocol) {
    case 'openid4vp-v1-unsigned':
      return unsignedRequest(asked)
    case 'openid4vp-v1-signed': {
      const signer = await deps.requestSigner(session.signingKeyId)
      const claims = signedRequestClaims({
        ...asked,
        clientId: session.clientId,
        origin: entry.origin,
        issuedAt: deps.wall(),
        expiresAt: session.expiresAt,
        registrationCertificate: registration,
        registrationForm: deps.config.wallet.verifierInfoData,
        googleRpMetadata: deps.config.dcApi.googleRpMetadata,
      })
      return { request: await signRequest(claims, signer) }
    }
    case 'org-iso-mdoc': {
      const { encryptionInfo, origin } = entry
      const signatories = await signatoriesOf(deps, session, query, 'browser')
      const request = await requestForBrowsers(device!, isoDcApiTranscript(encryptionInfo, origin), signatories)
      return { deviceRequest: Buffer.from(request).toString('base64url'), encryptionInfo }
    }
  }
}
