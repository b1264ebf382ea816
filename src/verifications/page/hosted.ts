// The data of the hosted page. Anybody who saw the QR code may read it, so it has no claims, no
// credentials, no findings, and only those reasons of a failure that say nothing about the person.

import { isoUtc } from '../../base/time.ts'
import type { Peeking, Reading } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import { costOfQuery } from '../../http/rate-limit.ts'
import { SLICE_MS } from '../../http/turns.ts'
import { leavesAgeOpen } from '../../templates/rules.ts'
import { inkOn, readLogo, readLook } from '../../tenants/look.ts'
import { readTenant } from '../../tenants/settings.ts'
import { preferredLanguage } from '../../words/languages.ts'
import type { Deps } from '../deps.ts'
import { isHeldForComparison } from '../hold.ts'
import { furtherLinks, isOpenAt, openSecrets, present, purposesOf, questionOf, toldQuery, walletLinks } from '../present.ts'
import { requireSession } from '../read.ts'
import type { HostedLook, HostedVerification } from '../schema.ts'
import { statusAt } from '../status.ts'
import { findVerification, type VerificationRow } from '../store.ts'
import { recordShown } from '../timeline.ts'
import { isOwner, mayShow, returnsCode } from './page-owner.ts'

/** `charge`: takes the cost of a large query from the budget of whoever asks. */
export async function hostedVerification(
  deps: Deps,
  id: string,
  request: Request,
  charge: (cost: number) => void,
): Promise<HostedVerification> {
  const session = await requireSession(deps, id)
  const secrets = await openSecrets(deps, deps.db, session)
  const at = deps.now()
  const status = statusAt(session, at)
  const isOpen = isOpenAt(session, at)
  // Not awaited: the page is shown without it.
  if (isOpen && mayShow(deps.config, session, request)) void recordShown(deps, session)
  const tenant = await readTenant(deps.db, session.tenantId)
  // A query of its own may be long, and most of the work is to open it.
  if (session.templateVersion === null) await deps.turns.next(SLICE_MS)
  const { query, rules, shares } = await questionOf(deps, deps.db, session)
  const cost = costOfQuery(query)
  if (cost > 0) charge(cost)
  const link = { secrets, query: () => toldQuery(deps.db, session, query) }
  const owns = isOwner(deps.config, session, request)
  const { login } = secrets
  const isForeign = !mayShow(deps.config, session, request)
  const accepted = preferredLanguage(request.headers.get('accept-language'))
  // English goes without saying: a shorter QR code.
  const language = accepted === 'en' ? undefined : accepted
  const purpose = purposesOf(session, secrets)
  return {
    id,
    status,
    environment: session.environment,
    asked_by: tenant?.name ?? '',
    ...(login && { login: { client: login.client, language: login.language } }),
    ...(isForeign && { foreign: true as const }),
    ...(purpose !== undefined && { purpose }),
    shares,
    ...(await lookOf(deps, session)),
    ...(status === 'pending' && !isOpen && { answered: true as const }),
    ...(status === 'pending' && isHeldForComparison(session) && { compares: true as const }),
    ...(isOpen &&
      !isForeign && {
        wallet_uri: (await walletLinks(deps, session, link, { language })).wallet_uri,
        ...(session.isSameDevice !== 1 && {
          qr_uri: (await walletLinks(deps, session, link, { from: 'qr', language })).wallet_uri,
        }),
        further_uris: furtherLinks(deps, session, { language }),
        fetched: session.fetchedAt !== null,
      }),
    ...(status === 'completed' && (session.template === null || leavesAgeOpen(query, rules)) && { unjudged: true as const }),
    ...(status === 'failed' && { reason: await reasonOf(deps, session) }),
    // For the owner only: the URL may name the order.
    ...(owns &&
      secrets.redirect_url !== undefined && {
        return_url: secrets.redirect_url,
        ...(returnsCode(session, at) && { returns: true as const }),
      }),
    created_at: isoUtc(session.createdAt),
    expires_at: isoUtc(session.expiresAt),
    now: isoUtc(at),
  }
}

async function lookOf({ db }: Reading, { id, tenantId }: VerificationRow): Promise<{ look?: HostedLook }> {
  const look = await readLook(db, tenantId)
  if (!look) return {}
  const { accent, privacyUrl, withoutWallet, logoType, updatedAt } = look
  return {
    look: {
      ...(accent !== null && { accent: { color: accent, ink: inkOn(accent) } }),
      ...(privacyUrl !== null && { privacy_url: privacyUrl }),
      ...(withoutWallet !== null && { without_wallet: withoutWallet }),
      ...(logoType !== null && { logo: `v/${id}/logo?${updatedAt}` }),
    },
  }
}

/** The shop's logo, for whoever has the link of a session. Its address changes with it. */
export async function hostedLogo(deps: Reading & Peeking, id: string): Promise<Response> {
  const { tenantId } = await requireSession(deps, id)
  const logo = await readLogo(deps.db, tenantId)
  if (!logo) throw apiError('not_found')
  return new Response(new Uint8Array(logo.bytes), {
    headers: { 'content-type': logo.type, 'cache-control': 'private, max-age=86400' },
  })
}

const REASONS: Readonly<Record<string, HostedVerification['reason']>> = {
  wallet_declined: 'declined',
  wallet_error: 'wallet_error',
  cancelled: 'cancelled',
  redirect_not_followed: 'not_followed',
  not_compared: 'not_compared',
}

/** Everybody with the link may read it, so a revoked document, a missing age or another face has no reason. */
async function reasonOf(deps: Deps, { id, tenantId, environment }: VerificationRow): Promise<HostedVerification['reason']> {
  const found = await findVerification(deps.db, { tenantId, environment }, id)
  const error = found && (await present(deps, found)).error
  return REASONS[error?.code ?? ''] ?? 'not_accepted'
}
