import fc from 'fast-check'
import { decodeJwt } from 'jose'
import { createClient, removeClient } from '../../../src/oidc/clients.ts'
import * as oidc from '../../helpers/oidc.ts'
import { command } from '../command.ts'
import { expectOk, foretell, isGranted, same } from '../expect.ts'
import { type Client, type Environment, MINUTE } from '../model.ts'
import { begin, comeBack, exchange, type LoginSession, loginsOf, readUserinfo } from '../model-logins.ts'
import { moveClock, type Simulation } from '../simulation.ts'
import { some } from './arbitraries.ts'
import { eraseOne } from './verifications.ts'
import { respond } from './wallet.ts'

const CLIENTS_MAX = 3
const WRONG_CODE = 'A'.repeat(43)

/** What the browser of a log-in holds. */
const browsers = new WeakMap<LoginSession, oidc.Begun>()

export const addClient = command<{ environment: Environment; isSameDevice: boolean }>({
  weight: 6,
  args: fc.record({ environment: fc.constantFrom('test', 'test', 'live'), isSameDevice: fc.boolean() }),
  can: ({ clients }) => clients.length < CLIENTS_MAX,
  async run({ world, model, tenantId }, { environment, isSameDevice }) {
    const wanted = {
      name: 'Wine shop',
      redirect_uris: [oidc.CALLBACK],
      templates: ['age_over_18'],
      keep_results: model.keepsLogins,
      cross_device: isSameDevice ? ('refused' as const) : ('allowed' as const),
    }
    const { id, client_secret = '' } = await createClient(world.app.deps, { tenantId, environment }, wanted, 'operator')
    model.clients.push({ id, secret: client_secret, environment, isSameDevice, isRemoved: false })
    model.audited++
  },
})

export const removeAClient = command<{ client: number }>({
  weight: 2,
  args: fc.record({ client: fc.nat(CLIENTS_MAX - 1) }),
  can: ({ clients }, { client }) => clients[client]?.isRemoved === false,
  async run({ world, model }, { client: place }) {
    const client = model.clients[place]!
    same((await removeClient(world.app.deps, client.id, 'operator')).removed, true, 'removed')
    client.isRemoved = true
    model.audited++
  },
})

/** Begun, answered, returned, exchanged: so far it goes without anything in between. Of one with tokens more follows at once. */
type LogIn = { client: number; steps: number; persona: 'adult' | 'minor' | 'declines'; after: Following[] }

const FOLLOWING = ['exchange', 'userinfo', 'userinfo', 'erasure', 'removal', 'ten minutes'] as const
type Following = (typeof FOLLOWING)[number]

export const logInOne = command<LogIn>({
  weight: 8,
  args: fc.record({
    client: fc.nat(CLIENTS_MAX - 1),
    steps: fc.constantFrom(1, 2, 3, 4, 4, 4),
    persona: fc.constantFrom('adult', 'adult', 'adult', 'minor', 'declines'),
    after: fc.array(fc.constantFrom(...FOLLOWING), { maxLength: 3, size: 'max' }),
  }),
  can: ({ clients }) => clients.length > 0,
  async run(simulation, { client: pick, steps, persona, after }) {
    const { clients } = simulation.model
    const session = await beginFor(simulation, clients[pick % clients.length]!)
    if (!session) return
    if (steps > 1) await respond.run(simulation, { session: 0, persona })
    if (steps > 2) await returnOne.run(simulation, { login: 0, brings: 'code' })
    if (steps < 4 || !session.login.code) return
    await exchangeOne.run(simulation, { login: 0, isRight: true })
    for (const following of after) await follow(simulation, session, following)
  },
})

async function follow(simulation: Simulation, { environment, login }: LoginSession, following: Following): Promise<void> {
  const { clients } = simulation.model
  if (following === 'exchange') return await exchangeOne.run(simulation, { login: 0, isRight: true })
  if (following === 'userinfo') return await userinfoOne.run(simulation, { login: 0 })
  if (following === 'ten minutes') return moveClock(simulation, 10 * MINUTE)
  const key = environment === 'test' ? 0 : 1
  if (following === 'erasure') return await eraseOne.run(simulation, { caller: { by: 'key', pick: key }, session: 0 })
  if (!login.client.isRemoved) await removeAClient.run(simulation, { client: clients.indexOf(login.client) })
}

async function beginFor(simulation: Simulation, client: Client): Promise<LoginSession | undefined> {
  const { world, model, readers, told } = simulation
  const expected = foretell(() => begin(model, client))
  // The service is another one after a restart.
  const browser = oidc.openBrowser({ call: (...args) => world.app.call(...args) })
  const { answer, begun } = await oidc.tryToBegin(partyOf(simulation, client), browser)
  if ('refusal' in expected) {
    // Both are told to a person: on a page, or by way of the client.
    const { code } = expected.refusal
    const told = code === 'unknown_client' ? undefined : 'temporarily_unavailable'
    const location = answer.headers.get('location')
    same([answer.status, location ? oidc.answerIn(location).error : undefined], [told ? 303 : 400, told], code)
    return undefined
  }
  same(begun !== undefined, true, `begun (${answer.headers.get('location')})`)
  const session = expected.ok
  browsers.set(session, begun!)
  const path = `/v1/verifications/${begun!.id}`
  const { body } = await world.app.call<{ wallet_uri: string; created_at: string; expires_at: string }>('GET', path, {
    key: readers[session.environment],
  })
  session.id = begun!.id
  session.walletUri = body.wallet_uri
  session.redirectUrl = `${world.app.deps.config.publicUrl}${begun!.returnPath}`
  told({ fact: 'created', id: session.id, created_at: body.created_at, expires_at: body.expires_at, template: session.template })
  return session
}

const partyOf = ({ world, tenantId }: Simulation, { id, secret, environment, isRemoved: _ }: Client): oidc.Party =>
  ({ app: world.app, tenant: tenantId, environment, client: { id, client_secret: secret } }) as oidc.Party

const loginAt = ({ model }: Simulation, pick: number): LoginSession => {
  const logins = loginsOf(model)
  return logins.at(-1 - (pick % logins.length))!
}

export const returnOne = command<{ login: number; brings: 'code' | 'wrong code' | 'nothing' }>({
  weight: 6,
  args: fc.record({ login: some, brings: fc.constantFrom('code', 'code', 'code', 'wrong code', 'nothing') }),
  can: model => loginsOf(model).length > 0,
  async run(simulation, { login: pick, brings }) {
    const { model, told } = simulation
    const session = loginAt(simulation, pick)
    const code = brings === 'nothing' ? undefined : brings === 'code' ? (session.code?.secret ?? WRONG_CODE) : WRONG_CODE
    const before = session.outcome
    const expected = foretell(() => comeBack(model, session, code))
    const answer = await oidc.comeBack(browsers.get(session)!, code)
    if (!isGranted(answer, expected)) return
    same(answer.status, 200, 'status')
    const { code: given, error, state } = oidc.answerIn(answer.body.location)
    same(
      [given !== undefined, error, state],
      expected.ok === 'code' ? [true, undefined, 'state-1'] : [false, 'access_denied', 'state-1'],
      'answer',
    )
    if (session.login.code) {
      session.login.code.secret = given!
      told({ fact: 'redeemed', id: session.id })
    }
    if (before === session.outcome) return
    if (session.outcome === 'completed') await learnReleased(simulation, session)
    told({ fact: 'ended', id: session.id, status: session.outcome, webhook: false })
  },
})

/** The answer was held until now. */
async function learnReleased({ world, readers }: Simulation, session: LoginSession): Promise<void> {
  const path = `/v1/verifications/${session.id}`
  type Released = { claims: object; credentials: object[] }
  const { body } = await world.app.call<Released>('GET', path, { key: readers[session.environment] })
  same(body.claims, { age_over_18: true }, 'claims')
  session.result = { claims: body.claims, credentials: body.credentials }
}

export const exchangeOne = command<{ login: number; isRight: boolean }>({
  weight: 6,
  // With the verifier that belongs to its challenge, or with another.
  args: fc.record({ login: some, isRight: fc.constantFrom(true, true, true, false) }),
  can: model => loginsOf(model).some(({ login }) => login.code),
  async run(simulation, { login: pick, isRight }) {
    const { model } = simulation
    const coded = loginsOf(model).filter(({ login }) => login.code)
    const session = coded.at(-1 - (pick % coded.length))!
    const { login } = session
    const { secret } = login.code!
    const verifier = isRight ? browsers.get(session)!.verifier : oidc.newVerifier()
    const expected = foretell(() => exchange(model, session, isRight))
    const answer = await oidc.exchange(partyOf(simulation, login.client), { code: secret, verifier })
    if (!isGranted(answer, expected)) return
    same([answer.status, answer.body.token_type, answer.body.expires_in], [200, 'Bearer', 600], 'tokens')
    login.token!.secret = answer.body.access_token
    const { sub, aud, nonce } = decodeJwt(answer.body.id_token)
    same([aud, nonce], [login.client.id, 'nonce-1'], 'ID token')
    login.sub = sub
  },
})

export const userinfoOne = command<{ login: number }>({
  weight: 8,
  args: fc.record({ login: some }),
  can: model => loginsOf(model).some(({ login }) => login.token),
  async run(simulation, { login: pick }) {
    const { model } = simulation
    const known = loginsOf(model).filter(({ login }) => login.token)
    const session = known.at(-1 - (pick % known.length))!
    const { client, token, sub } = session.login
    const expected = foretell(() => readUserinfo(model, session))
    const answer = await oidc.userinfo(partyOf(simulation, client), token!.secret)
    if (isGranted(answer, expected)) expectOk(answer, 200, { sub, age_over_18: true })
  },
})
