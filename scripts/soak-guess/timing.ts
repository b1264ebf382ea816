// The id of somebody else and an id that never was, asked for in turn: the same bytes, after the same time.
import { newDeviceId, newVerificationId } from '../../src/ids.ts'
import { createVerification, startApp } from '../../test/helpers/app.ts'
import { register } from '../../test/helpers/devices.ts'
import type { Seeded } from '../../test/helpers/seeded.ts'

const PAIRS = 2000
const DIFFERENCE_MAX = 0.2
const DIFFERENCE_US_MAX = 50

type Soak = { random: Seeded; violations: string[]; isOver: () => boolean }
type Samples = { foreignUs: number[]; neverUs: number[] }

/** Microseconds, by route. */
export async function compareTimes({ random, violations, isOver }: Soak): Promise<Record<string, Samples>> {
  const app = await startApp()
  const [own, stranger] = [await app.tenant(), await app.tenant({ name: 'Stranger' })]
  const foreign = { session: [] as string[], device: [] as string[] }
  for (let i = 0; i < 40; i++) {
    await createVerification(app, own.key)
    foreign.session.push((await createVerification(app, stranger.key)).id)
    foreign.device.push((await register(app, stranger.key)).device.id)
  }
  const never = {
    session: () => newVerificationId(app.deps.random),
    device: () => newDeviceId(app.deps.random, app.clock.now()),
  }
  const body = { response_code: 'x'.repeat(43) }
  const routes = [
    ['read', 'session', 'GET', '/v1/verifications/ID', undefined],
    ['erase', 'session', 'DELETE', '/v1/verifications/ID', undefined],
    ['redeem', 'session', 'POST', '/v1/verifications/ID/redeem', body],
    ['revoke', 'device', 'DELETE', '/v1/devices/ID', undefined],
  ] as const
  const samples: Record<string, Samples> = {}
  for (const [name, kind, method, path, sent] of routes) {
    const ask = async (id: string) => {
      const startedAt = performance.now()
      const { status, text } = await app.call(method, path.replace('ID', id), { key: own.key, body: sent })
      return { tookUs: (performance.now() - startedAt) * 1000, answer: `${status} ${text.replaceAll(id, 'ID')}` }
    }
    const expected = (await ask(never[kind]())).answer
    const own_: Samples = { foreignUs: [], neverUs: [] }
    for (let i = 0; i < PAIRS && !isOver(); i++) {
      const ids = { foreignUs: foreign[kind][random.below(40)]!, neverUs: never[kind]() }
      const order = random.below(2) === 0 ? (['foreignUs', 'neverUs'] as const) : (['neverUs', 'foreignUs'] as const)
      for (const whose of order) {
        const { tookUs, answer } = await ask(ids[whose])
        own_[whose].push(tookUs)
        if (answer !== expected) violations.push(`F35 ${name}: ${answer} instead of ${expected}`)
      }
    }
    samples[name] = own_
  }
  await app.stop()
  return samples
}

/** Once for all that was measured: a median of few says little. */
export function judgeTimes(samples: Record<string, Samples>): string[] {
  return Object.entries(samples).flatMap(([name, { foreignUs, neverUs }]) => {
    const [foreign, never] = [medianOf(foreignUs), medianOf(neverUs)]
    const difference = Math.abs(foreign - never)
    const isTold = difference > DIFFERENCE_US_MAX && difference / Math.max(foreign, never) > DIFFERENCE_MAX
    return isTold ? [`F35 ${name}: ${Math.round(foreign)} µs for a foreign id, ${Math.round(never)} µs for none`] : []
  })
}

const medianOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
