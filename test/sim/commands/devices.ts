import fc from 'fast-check'
import type { Answer } from '../../helpers/app.ts'
import { type CallerArgs, callerOf, command, deviceOf } from '../command.ts'
import { expectOk, foretell, isGranted, same } from '../expect.ts'
import {
  type Device,
  deviceView,
  type Exchanged,
  enroll,
  listDevices,
  type Model,
  PHOTO_TEMPLATE,
  pairView,
  refresh,
  register,
  revoke,
  UNKNOWN_TEMPLATE,
} from '../model.ts'
import { call, type Simulation } from '../simulation.ts'
import { anyone, idempotencyKey, some } from './arbitraries.ts'

const NOBODY = { kind: 'nobody' } as const
const STRANGER = '01890000-0000-7000-8000-000000000000'

type Pair = { access_token: string; refresh_token: string; device: { id: string } }
type Register = { caller: CallerArgs; templates: string[]; ttl?: number }

export const registerOne = command<Register>({
  weight: 4,
  args: fc.record({
    caller: anyone,
    templates: fc.constantFrom(
      ['age_over_18', PHOTO_TEMPLATE],
      ['age_over_18', UNKNOWN_TEMPLATE],
      ['age_over_65', PHOTO_TEMPLATE],
    ),
    ttl: fc.constantFrom(undefined, 60, 86_400),
  }) as fc.Arbitrary<Register>,
  async run(simulation, { caller: by, templates, ttl }) {
    const { model } = simulation
    const caller = callerOf(model, by)
    const name = `Till ${model.devices.length + 1}`
    const expected = foretell(() => register(model, caller, { name, allowedTemplates: templates, pairingTtlSeconds: ttl }))
    const body = { name, allowed_templates: templates, pairing_ttl_seconds: ttl }
    const answer = await call<{ device: { id: string }; pairing_code: string }>(simulation, caller, 'POST', '/v1/devices', {
      body,
    })
    if (!isGranted(answer, expected)) return
    const isCode = (code: unknown) => /^VD-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/.test(String(code))
    expectOk(answer, 201, { device: deviceView(expected.ok), pairing_code: isCode })
    expected.ok.id = answer.body.device.id
    expected.ok.spendables[0]!.secret = answer.body.pairing_code
  },
})

type Exchange = { device: number; key?: string; isLost: boolean }

const exchange = fc.record({
  device: some,
  key: fc.oneof({ weight: 1, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: idempotencyKey }),
  // The answer does not arrive: a client knows neither token, and repeats.
  isLost: fc.constantFrom(false, false, true),
}) as fc.Arbitrary<Exchange>

export const enrollOne = command<Exchange & { typed: 'as shown' | 'lower case' | 'without dashes' }>({
  weight: 6,
  args: fc
    .tuple(exchange, fc.constantFrom('as shown' as const, 'lower case' as const, 'without dashes' as const))
    .map(([each, typed]) => ({ ...each, typed })),
  can: ({ devices }) => devices.length > 0,
  async run(simulation, { device: pick, key, typed, isLost }) {
    const device = deviceOf(simulation.model, pick)!
    const shown = device.spendables[0]!.secret
    const code = typed === 'as shown' ? shown : typed === 'lower case' ? shown.toLowerCase() : shown.replaceAll('-', '')
    const send = () => exchangeWith(simulation, '/v1/devices/enroll', { pairing_code: code }, key)
    await expectExchange(simulation, device, () => enroll(simulation.model, device, key), { key, isLost, send })
  },
})

export const refreshOne = command<Exchange & { age: number }>({
  weight: 6,
  // Mostly the token that a till holds, sometimes one that it held before.
  args: fc.tuple(exchange, fc.constantFrom(0, 0, 0, 1, 2)).map(([each, age]) => ({ ...each, age })),
  can: hasPaired,
  async run(simulation, { device: pick, key, age, isLost }) {
    const { model } = simulation
    const paired = model.devices.filter(({ spendables }) => spendables.length > 1)
    const device = paired[pick % paired.length]!
    const generation = Math.max(1, device.spendables.length - 1 - age)
    const token = device.spendables[generation]!.secret
    const send = () => exchangeWith(simulation, '/v1/devices/token', { refresh_token: token }, key)
    await expectExchange(simulation, device, () => refresh(model, device, generation, key), { key, isLost, send })
  },
})

function hasPaired({ devices }: Model): boolean {
  return devices.some(({ spendables }) => spendables.length > 1)
}

const exchangeWith = (simulation: Simulation, path: string, body: object, key: string | undefined): Promise<Answer<Pair>> =>
  call<Pair>(simulation, NOBODY, 'POST', path, { body, headers: key === undefined ? undefined : { 'idempotency-key': key } })

type Sending = { key: string | undefined; isLost: boolean; send: () => Promise<Answer<Pair>> }

async function expectExchange(
  simulation: Simulation,
  device: Device,
  act: () => Exchanged,
  { key, isLost, send }: Sending,
): Promise<void> {
  const { model, told } = simulation
  const expected = foretell(act)
  const answer = await send()
  if (!isGranted(answer, expected)) return
  if ('replayed' in expected.ok) {
    expectOk(answer, 200, expected.ok.replayed)
    return same(answer.headers.get('idempotent-replayed'), 'true', 'Idempotent-Replayed')
  }
  expectOk(answer, 200, pairView(model, device))
  same(answer.headers.get('idempotent-replayed'), null, 'Idempotent-Replayed')
  device.accessTokens.at(-1)!.secret = answer.body.access_token
  device.spendables.at(-1)!.secret = answer.body.refresh_token
  if (key !== undefined) expected.ok.spent.replay = { idempotencyKey: key, answer: answer.body }
  if (device.accessTokens.length === 1) told({ fact: 'enrolled', device: device.id })
  // A client whose answer was lost sends the very same again: with a key it gets the same pair, without it is taken for a thief.
  if (isLost) await expectExchange(simulation, device, act, { key, isLost: false, send })
}

export const revokeOne = command<{ caller: CallerArgs; device: number }>({
  weight: 1,
  args: fc.record({ caller: anyone, device: fc.nat(8) }),
  async run(simulation, { caller: by, device: pick }) {
    const { model, told } = simulation
    const caller = callerOf(model, by)
    const device = deviceOf(model, pick)
    if (!device) return await revokeStranger(simulation)
    const expected = foretell(() => revoke(model, caller, device))
    const answer = await call(simulation, caller, 'DELETE', `/v1/devices/${device.id}`)
    if (!isGranted(answer, expected)) return
    expectSeen(answer.body as Seen, expected.ok)
    told({ fact: 'revoked', device: device.id })
  },
})

async function revokeStranger(simulation: Simulation): Promise<void> {
  const answer = await call(simulation, callerOf(simulation.model, { by: 'key', pick: 0 }), 'DELETE', `/v1/devices/${STRANGER}`)
  same([400, 401, 404].includes(answer.status), true, 'refusal of a stranger')
}

export const listThem = command<{ caller: CallerArgs }>({
  weight: 2,
  args: fc.record({ caller: anyone }),
  async run(simulation, args) {
    const caller = callerOf(simulation.model, args.caller)
    const expected = foretell(() => listDevices(simulation.model, caller))
    const answer = await call<{ data: Seen[] }>(simulation, caller, 'GET', '/v1/devices')
    if (!isGranted(answer, expected)) return
    same([answer.status, answer.body.data.length], [200, expected.ok.length], 'devices')
    for (const [i, device] of answer.body.data.entries()) expectSeen(device, expected.ok[i]!)
  },
})

type Seen = { last_seen_at?: string }

/** Nobody waits until it is written when a device was last seen. */
function expectSeen({ last_seen_at, ...device }: Seen, { last_seen_at: expected, ...rest }: Record<string, unknown>): void {
  same(device, rest, 'device')
  const isPlausible = last_seen_at === undefined ? true : expected !== undefined && last_seen_at <= String(expected)
  same(isPlausible, true, 'last_seen_at')
}
