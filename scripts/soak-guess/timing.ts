// The id of somebody else and an id that never was, asked for in turn: the same bytes, after the same time.
import { newDeviceId, newVerificationId } from '../../src/ids.ts'
import { createVerification, startApp, type TestApp } from '../../test/helpers/app.ts'
import { register } from '../../test/helpers/devices.ts'
import type { Seeded } from '../../test/helpers/seeded.ts'

const FOREIGN_IDS = 40
/** A median of fewer says nothing. */
const PAIRS_MIN = 200
const DIFFERENCE_MAX = 0.2
const DIFFERENCE_US_MAX = 50
const ROUTES = {
  read: { of: 'session', method: 'GET', path: '/v1/verifications/ID' },
  erase: { of: 'session', method: 'DELETE', path: '/v1/verifications/ID' },
  redeem: { of: 'session', method: 'POST', path: '/v1/verifications/ID/redeem', body: { response_code: 'x'.repeat(43) } },
  revoke: { of: 'device', method: 'DELETE', path: '/v1/devices/ID' },
} as const

type Route = keyof typeof ROUTES
type Soak = { random: Seeded; violations: string[]; isOver: () => boolean }
type Samples = { foreignUs: number[]; neverUs: number[] }

/** Microseconds, by route. */
export async function compareTimes({ random, violations, isOver }: Soak): Promise<Record<string, Samples>> {
  const app = await startApp()
  const { key } = await app.tenant()
  const foreign = await idsOfAStranger(app)
  const never = { session: () => newVerificationId(app.deps.random), device: () => newDeviceId(app.deps.random, app.clock.now()) }
  const names = Object.keys(ROUTES) as Route[]
  const samples = Object.fromEntries(names.map((name): [string, Samples] => [name, { foreignUs: [], neverUs: [] }]))
  const told = new Map<Route, string>()
  for (let i = 0; i < PAIRS_MIN || !isOver(); i++) {
    for (const name of names) {
      const { of } = ROUTES[name]
      const ids = { foreignUs: foreign[of][random.below(FOREIGN_IDS)]!, neverUs: never[of]() }
      const whose = ['foreignUs', 'neverUs'] as const
      for (const kind of random.below(2) === 0 ? whose : whose.toReversed()) {
        const { tookUs, answer } = await ask(app, key, name, ids[kind])
        samples[name]![kind].push(tookUs)
        const expected = told.get(name) ?? answer
        told.set(name, expected)
        if (answer !== expected || !answer.startsWith('404')) violations.push(`F35 ${name}: ${answer} instead of ${expected}`)
      }
    }
  }
  await app.stop()
  return samples
}

async function idsOfAStranger(app: TestApp): Promise<{ session: string[]; device: string[] }> {
  const { key } = await app.tenant({ name: 'Stranger' })
  const ids = { session: [] as string[], device: [] as string[] }
  for (let i = 0; i < FOREIGN_IDS; i++) {
    ids.session.push((await createVerification(app, key)).id)
    ids.device.push((await register(app, key)).device.id)
  }
  return ids
}

async function ask(app: TestApp, key: string, name: Route, id: string): Promise<{ tookUs: number; answer: string }> {
  const { method, path, ...sent } = ROUTES[name]
  const startedAt = performance.now()
  const { status, text } = await app.call(method, path.replace('ID', id), { key, ...('body' in sent && { body: sent.body }) })
  return { tookUs: (performance.now() - startedAt) * 1000, answer: `${status} ${text.replaceAll(id, 'ID')}` }
}

export function judgeTimes(samples: Record<string, Samples>): string[] {
  return Object.entries(samples).flatMap(([name, { foreignUs, neverUs }]) => {
    const [foreign, never] = [medianOf(foreignUs), medianOf(neverUs)]
    const difference = Math.abs(foreign - never)
    const isTold = difference > DIFFERENCE_US_MAX && difference / Math.max(foreign, never) > DIFFERENCE_MAX
    return isTold ? [`F35 ${name}: ${Math.round(foreign)} µs for a foreign id, ${Math.round(never)} µs for none`] : []
  })
}

const medianOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
