import fc from 'fast-check'
import { type CallerArgs, callerOf, command, sessionOf } from '../command.ts'
import { expectOk, foretell, isGranted, same } from '../expect.ts'
import {
  type Creation,
  cancel,
  compare,
  create,
  erase,
  type Format,
  isHeld,
  KNOWN_TEMPLATES,
  list,
  PHOTO_TEMPLATE,
  RECEIVERS,
  read,
  redeem,
  statusOf,
  UNKNOWN_TEMPLATE,
  usage,
  viewOf,
} from '../model.ts'
import { call, type Simulation, webhookUrl } from '../simulation.ts'
import { anyone, byDevice, idempotencyKey, some } from './arbitraries.ts'

const QUERY = {
  credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims: [{ path: ['given_name'] }] }],
}
const STRANGER = 'vs_0000000000000000000000'
const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })
const orNone = <T>(arbitrary: fc.Arbitrary<T>, weight = 1) => fc.oneof(often(weight, arbitrary), often(2, fc.constant(undefined)))

/** Small in number, so that two of them are often the same. */
const creation: fc.Arbitrary<Creation> = fc.oneof(
  often(
    12,
    fc
      .record(
        {
          template: fc.oneof(
            often(5, fc.constant('age_over_18')),
            often(2, fc.constantFrom(...KNOWN_TEMPLATES, UNKNOWN_TEMPLATE)),
          ),
          formats: orNone(fc.constantFrom<Format[][]>(['mso_mdoc'], ['dc+sd-jwt'], ['dc+sd-jwt', 'mso_mdoc'])),
          ttlSeconds: orNone(fc.constantFrom(60, 3600)),
          metadata: orNone(fc.constantFrom<Record<string, string>[]>({ order: 'A-1' }, { order: 'A-2', till: 'Ä 2' })),
          purpose: orNone(fc.constant('To sell you wine')),
          redirectUrl: orNone(fc.constantFrom('https://shop.example/done', 'https://shop.example/done?a=1#old')),
          release: orNone(fc.constant(true as const)),
          receiver: orNone(fc.constantFrom(...RECEIVERS), 2),
        },
        { requiredKeys: ['template'] },
      )
      // Alone it is refused, which need not happen often.
      .map(asked =>
        asked.release && asked.ttlSeconds !== 60 ? { redirectUrl: 'https://shop.example/done', ...asked } : asked,
      ) as fc.Arbitrary<Creation>,
  ),
  often(1, fc.constant({ query: true })),
  often(
    1,
    fc.constantFrom<Creation>(
      {},
      { query: true, formats: ['dc+sd-jwt'] },
      { template: 'driving_licence', formats: ['dc+sd-jwt'] },
      { template: 'age_over_18', query: true },
      { template: 'age_over_18', privateWebhook: true },
    ),
  ),
)

type Create = { caller: CallerArgs; key?: string; asked: Creation }

export const createOne = command<Create>({
  weight: 12,
  args: fc.record({
    caller: anyone,
    key: fc.oneof(often(10, fc.constant(undefined)), often(12, idempotencyKey), often(1, fc.constant('not one'))),
    asked: creation,
  }) as fc.Arbitrary<Create>,
  run: createBy,
})

/** Repeats an earlier request under its key, unchanged or with one value changed. */
export const createAgain = command<{ kept: number; caller?: CallerArgs; isChanged: boolean }>({
  weight: 5,
  args: fc.record({
    kept: some,
    // Rarely by somebody else, for whom the key is another.
    caller: fc.oneof(often(4, fc.constant(undefined)), often(1, anyone)),
    isChanged: fc.constantFrom(false, false, false, true),
  }) as fc.Arbitrary<{ kept: number; caller?: CallerArgs; isChanged: boolean }>,
  can: ({ kept }) => kept.size > 0,
  async run(simulation, { kept: pick, caller, isChanged }) {
    const { model } = simulation
    const entries = [...model.kept]
    const [place, { body, session }] = entries[pick % entries.length]!
    const asked: Creation = JSON.parse(body)
    const by: CallerArgs = session.device
      ? { by: 'device', pick: model.devices.filter(({ accessTokens }) => accessTokens.length > 0).indexOf(session.device) }
      : { by: 'key', pick: session.environment === 'test' ? 0 : 1 }
    const key = place.slice(place.indexOf(' ') + 1)
    await createBy(simulation, { caller: caller ?? by, key, asked: isChanged ? { ...asked, purpose: 'Another' } : asked })
  },
})

async function createBy(simulation: Simulation, { caller: by, key, asked: given }: Create): Promise<void> {
  const { model, told } = simulation
  // Undefined values are not sent; two bodies are equal when their JSON is.
  const asked: Creation = JSON.parse(JSON.stringify(given))
  const caller = callerOf(model, by)
  if (caller.kind !== 'device' && asked.template === PHOTO_TEMPLATE) asked.template = 'age_over_18'
  const place = keptPlace(simulation, caller, key, asked)
  const expected = foretell(() => create(model, caller, key, asked))
  const headers = key === undefined ? undefined : { 'idempotency-key': key }
  const body = bodyOf(simulation, asked, place)
  const answer = await call<{ id: string; wallet_uri: string }>(simulation, caller, 'POST', '/v1/verifications', {
    body,
    headers,
  })
  if (!isGranted(answer, expected)) return
  const { session, isReplayed } = expected.ok
  expectOk(answer, 201, isReplayed ? session.created : viewOf(model, session))
  same(answer.headers.get('idempotent-replayed'), isReplayed ? 'true' : null, 'Idempotent-Replayed')
  if (isReplayed) return
  session.id = answer.body.id
  session.walletUri = answer.body.wallet_uri
  session.created = answer.body
  const { created_at, expires_at } = answer.body as Record<string, unknown>
  told({ fact: 'created', id: session.id, created_at, expires_at, ...(session.template && { template: session.template }) })
}

/** The same body names the same receiver: the place of the first one that it made. */
function keptPlace({ model }: Simulation, caller: ReturnType<typeof callerOf>, key: string | undefined, asked: Creation): number {
  const namespace = caller.kind === 'device' ? caller.device.id : caller.kind === 'key' ? caller.key.environment : ''
  const kept = model.kept.get(`${namespace} ${key}`)
  const isSame = kept !== undefined && kept.expiresAt > model.now && kept.body === JSON.stringify(asked)
  return isSame ? model.sessions.indexOf(kept.session) : model.sessions.length
}

function bodyOf(simulation: Simulation, asked: Creation, place: number): object {
  const { template, formats, query, ttlSeconds, metadata, purpose, redirectUrl, release, receiver, privateWebhook } = asked
  const url = privateWebhook ? 'http://10.0.0.1/hook' : receiver && webhookUrl(simulation, place, receiver)
  return {
    template,
    formats,
    query: query ? QUERY : undefined,
    ttl_seconds: ttlSeconds,
    metadata,
    purpose,
    redirect_url: redirectUrl,
    release: release && 'on_redeem',
    webhook_url: url,
  }
}

export const readOne = command<{ caller: CallerArgs; session: number }>({
  weight: 5,
  args: fc.record({ caller: anyone, session: some }),
  can: ({ sessions }) => sessions.length > 0,
  async run(simulation, args) {
    const caller = callerOf(simulation.model, args.caller)
    const session = sessionOf(simulation.model, args.session)!
    const expected = foretell(() => read(simulation.model, caller, session))
    const answer = await call(simulation, caller, 'GET', `/v1/verifications/${session.id}`)
    if (isGranted(answer, expected)) expectOk(answer, 200, expected.ok)
  },
})

export const poll = command<{ session: number }>({
  weight: 2,
  args: fc.record({ session: some }),
  async run(simulation, { session: pick }) {
    const { model } = simulation
    const session = sessionOf(model, pick)
    const id = session?.id ?? STRANGER
    const answer = await call(simulation, { kind: 'nobody' }, 'GET', `/v1/verifications/${id}/status`)
    if (!session || session.isErased) return same(answer.status, 404, 'status of a poll')
    expectOk(answer, 200, { id, status: statusOf(model, session) })
  },
})

type Page = { caller: CallerArgs; limit?: number; before?: { session: number; fraction: string } }

export const listSome = command<Page>({
  weight: 3,
  args: fc.record({
    caller: anyone,
    limit: orNone(fc.constantFrom(1, 2, 100)),
    // A fraction finer than milliseconds rounds up, so that the session itself is in the page.
    before: orNone(fc.record({ session: some, fraction: fc.constantFrom('', '000', '0001', '000001') })),
  }) as fc.Arbitrary<Page>,
  async run(simulation, { caller: by, limit, before }) {
    const { model } = simulation
    const caller = callerOf(model, by)
    const bound = before && sessionOf(model, before.session)?.createdAt
    const isFiner = Number(before?.fraction ?? 0) > 0
    const expected = foretell(() =>
      list(model, caller, limit ?? 20, bound === undefined ? Number.MAX_VALUE : bound + (isFiner ? 1 : 0)),
    )
    const query = new URLSearchParams()
    if (limit !== undefined) query.set('limit', String(limit))
    if (bound !== undefined) query.set('before', new Date(bound).toISOString().replace('Z', `${before?.fraction}Z`))
    const answer = await call(simulation, caller, 'GET', `/v1/verifications?${query}`)
    if (isGranted(answer, expected)) expectOk(answer, 200, { data: expected.ok })
  },
})

export const eraseOne = command<{ caller: CallerArgs; session: number }>({
  weight: 3,
  args: fc.record({ caller: anyone, session: some }),
  can: ({ sessions }) => sessions.length > 0,
  async run(simulation, args) {
    const { model, told } = simulation
    const caller = callerOf(model, args.caller)
    const session = sessionOf(model, args.session)!
    const expected = foretell(() => erase(model, caller, session))
    told({ fact: 'erasing', id: session.id })
    const answer = await call(simulation, caller, 'DELETE', `/v1/verifications/${session.id}`)
    if (!isGranted(answer, expected)) return
    expectOk(answer, 200, { id: session.id, deleted: expected.ok, erased_at: new Date(model.now).toISOString() })
    told({ fact: 'erased', id: session.id })
  },
})

export const cancelOne = command<{ caller: CallerArgs; session: number }>({
  weight: 3,
  args: fc.record({ caller: anyone, session: some }),
  can: ({ sessions }) => sessions.length > 0,
  async run(simulation, args) {
    const { model, told } = simulation
    const caller = callerOf(model, args.caller)
    const session = sessionOf(model, args.session)!
    const expected = foretell(() => cancel(model, caller, session))
    const answer = await call(simulation, caller, 'POST', `/v1/verifications/${session.id}/cancel`)
    if (!isGranted(answer, expected)) return
    expectOk(answer, 200, expected.ok)
    told({ fact: 'ended', id: session.id, status: 'failed', webhook: session.receiver !== undefined })
  },
})

export const compareOne = command<{ caller: CallerArgs; session: number; isSame: boolean }>({
  weight: 4,
  args: fc.record({ caller: fc.oneof(byDevice, anyone), session: some, isSame: fc.boolean() }),
  can: ({ sessions }) => sessions.some(({ template }) => template === PHOTO_TEMPLATE),
  async run(simulation, { caller: by, session: pick, isSame }) {
    const { model, told } = simulation
    const caller = callerOf(model, by)
    const session = sessionOf(model, pick)!
    const expected = foretell(() => compare(model, caller, session, isSame))
    const path = `/v1/verifications/${session.id}/comparison`
    const body = { same_person: isSame }
    const answer = await call<{ claims?: object; credentials: object[]; error?: { code: string } }>(
      simulation,
      caller,
      'POST',
      path,
      { body },
    )
    if (!isGranted(answer, expected)) return
    const { claims, credentials, error } = answer.body
    same([claims !== undefined, error?.code], isSame ? [true, undefined] : [false, 'not_same_person'], 'a compared result')
    session.result = { claims, credentials, error }
    expectOk(answer, 200, viewOf(model, session))
    told({ fact: 'ended', id: session.id, status: session.outcome, webhook: session.receiver !== undefined })
  },
})

export const redeemOne = command<{ caller: CallerArgs; session: number; isWrong: boolean }>({
  weight: 4,
  args: fc.record({ caller: anyone, session: some, isWrong: fc.constantFrom(false, false, false, true) }),
  can: ({ sessions }) => sessions.some(({ code }) => code),
  async run(simulation, { caller: by, session: pick, isWrong }) {
    const { model, told } = simulation
    const caller = callerOf(model, by)
    const coded = model.sessions.filter(({ code }) => code)
    const session = coded[pick % coded.length]!
    const code = isWrong ? 'A'.repeat(43) : (session.code?.secret ?? '')
    const wasHeld = isHeld(session)
    const expected = foretell(() => redeem(model, caller, session, code))
    const body = { response_code: code }
    const path = `/v1/verifications/${session.id}/redeem`
    const answer = await call<{ claims: object; credentials: object[] }>(simulation, caller, 'POST', path, { body })
    if (!isGranted(answer, expected)) return
    if (wasHeld) {
      const { claims, credentials } = answer.body
      same([typeof claims, Array.isArray(credentials)], ['object', true], 'a released result')
      session.result = { claims, credentials }
      told({ fact: 'ended', id: session.id, status: 'completed', webhook: session.receiver !== undefined })
    }
    expectOk(answer, 200, viewOf(model, session))
    told({ fact: 'redeemed', id: session.id })
  },
})

export const readUsage = command<{ caller: CallerArgs }>({
  weight: 2,
  args: fc.record({ caller: anyone }),
  async run(simulation, args) {
    const caller = callerOf(simulation.model, args.caller)
    const expected = foretell(() => usage(simulation.model, caller))
    const answer = await call(simulation, caller, 'GET', '/v1/usage')
    if (isGranted(answer, expected)) expectOk(answer, 200, expected.ok)
  },
})
