// Examples for a shop that has nothing to look at yet: real test sessions, answered by the sandbox's wallet, which is a foreign
// implementation. It speaks to the verbs behind the routes of a wallet. They count against the quota, and send no webhook.
import { base62 } from '../../base/ids.ts'
import { Lru } from '../../base/lru.ts'
import { secondsToUtcMidnight } from '../../base/time.ts'
import type { Claim } from '../../db/short-lived.ts'
import { apiError } from '../../http/errors.ts'
import { REQUEST_OBJECT_TYPE } from '../../openid4vp/exchange/request-object.ts'
import { actorOf, type Visit } from '../../people/session.ts'
import type { PersonaId } from '../../sandbox/personas.ts'
import type { Fetch } from '../../sandbox/wallet/wallet.ts'
import { dailyQuotaOf, type TenantRow } from '../../tenants/settings.ts'
import { readUsage } from '../../usage/read.ts'
import { cancelVerification } from '../../verifications/end/cancel.ts'
import { requestObject } from '../../verifications/exchange/request.ts'
import { respond } from '../../verifications/exchange/respond.ts'
import type { Deps } from '../deps.ts'
import type { ExampleStep, MadeExamples } from './schema.ts'
import { tryVerification } from './verifications.ts'

/** In one request; the page asks for the next ones, or stops. */
const STEP = 5
/** A run that is not continued ends. */
const LEASE_MS = 20_000
const RUNS_MAX = 1000
/** The shortest there is: an unanswered one expires soon. */
const TTL_SECONDS = 60

type Ending = PersonaId | 'nobody answers' | 'stopped'
type Example = { ending: Ending; template: string }

const OFTEN = ['age_over_18', 'age_over_18', 'age_over_16', 'age_over_18', 'identity_basic', 'age_over_18', 'driving_licence']

/** The other endings of a day, by their place among the examples; the rest is in order. */
const ENDINGS: Readonly<Record<number, Ending>> = {
  3: 'minor',
  7: 'declines',
  10: 'nobody answers',
  13: 'expired',
  16: 'stopped',
  20: 'minor',
  23: 'untrusted_issuer',
  26: 'declines',
  29: 'nobody answers',
  32: 'revoked',
  36: 'minor',
  39: 'declines',
  41: 'tampered_claim',
  44: 'stopped',
  47: 'nobody answers',
}

export const EXAMPLES: readonly Example[] = Array.from({ length: 50 }, (_, i) => {
  const ending = ENDINGS[i] ?? 'adult'
  return { ending, template: ending === 'adult' ? OFTEN[i % OFTEN.length]! : 'age_over_18' }
})

type Asked = { visit: Visit; tenant: TenantRow; requestId: string; step: ExampleStep }

/** Makes the next examples of a run. A shop has one run at a time. */
export function createExamples(deps: Deps): (asked: Asked) => Promise<MadeExamples> {
  const claims = new Lru<Claim>({ countMax: RUNS_MAX })

  async function begin({ tenant, step }: Asked): Promise<string> {
    const run = step.run ?? base62(deps.random, 22)
    const found = await deps.shortLived.claim(`examples ${tenant.id}`, run, LEASE_MS)
    if ('claim' in found) claims.set(run, found.claim)
    else if (found.held.word !== run) throw apiError('examples_under_way')
    return run
  }

  async function end(run: string): Promise<void> {
    await claims.get(run)?.forget(false)
    claims.delete(run)
  }

  return async asked => {
    const { step, tenant } = asked
    const run = await begin(asked)
    try {
      const { remaining } = await readUsage(deps, tenant.id, dailyQuotaOf(tenant))
      if (remaining < EXAMPLES.length - step.from)
        throw apiError('quota_exceeded', { retryAfter: secondsToUtcMidnight(deps.now()) })
      const examples = EXAMPLES.slice(step.from, step.from + STEP)
      for (const [i, example] of examples.entries()) await make(deps, asked, example, step.from + i + 1)
      const made = step.from + examples.length
      if (made >= EXAMPLES.length) await end(run)
      return { run, made, of: EXAMPLES.length }
    } catch (error) {
      await end(run)
      throw error
    }
  }
}

async function make(
  deps: Deps,
  { visit, tenant, requestId }: Asked,
  { ending, template }: Example,
  number: number,
): Promise<void> {
  await deps.turns.next()
  const body = { template, ttl_seconds: TTL_SECONDS, metadata: { order: `Example ${number}` } }
  const { id, wallet_uri = '' } = await tryVerification(deps, visit, tenant, body, true)
  if (ending === 'nobody answers') return
  if (ending === 'stopped') {
    const by = { actor: actorOf(visit.user), requestId }
    return void (await cancelVerification(deps, { tenantId: tenant.id, environment: 'test' }, id, by))
  }
  const [{ makeHolder }, { present }] = await Promise.all([
    import('../../sandbox/issuer/issuer.ts'),
    import('../../sandbox/wallet/wallet.ts'),
  ])
  const { issuer } = await deps.sandbox()
  const now = deps.now()
  const holder = await makeHolder(issuer, ending, now, deps.random)
  await present(wallet_uri, holder, { fetch: doorOf(deps, id, requestId), now, method: 'get' })
}

/** What a wallet would reach over the network. */
function doorOf(deps: Deps, id: string, requestId: string): Fetch {
  return async (url, init) =>
    init?.method === 'POST'
      ? Response.json(await respond(deps, id, new Request(url, init), { from: undefined, requestId }))
      : new Response(await requestObject(deps, id, { from: undefined, language: undefined }), {
          headers: { 'content-type': REQUEST_OBJECT_TYPE },
        })
}
