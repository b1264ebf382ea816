import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectSuccesses, fuzz } from './fuzz.ts'
import { type Operation, readSurface } from './operations.ts'
import { type FuzzedService, startFuzzed } from './service.ts'

const surface = readSurface()

/** Each route on a line of its own, so that a report names it. What adds to lists comes last. */
export function fuzzRoutes(isMeant: (operation: Operation) => boolean, shares: Record<string, number> = {}): void {
  let service: FuzzedService
  beforeAll(async () => {
    service = await startFuzzed()
  }, 60_000)
  afterAll(() => service.stop())

  const meant = surface.operations.filter(isMeant).toSorted((a, b) => order(a) - order(b))
  test.each(meant.map(operation => [operation.id, operation] as const))(
    '%s gives a documented answer to whatever it is asked',
    async (id, operation) => {
      const tally = await fuzz(surface, service.scene, operation)
      expectSuccesses(tally, shares[id])
    },
    120_000,
  )

  test('afterwards there is what was acknowledged and nothing more, no fault is in the log, and the audit chain holds', async () => {
    const { made, acknowledged, audit } = await service.account()
    expect(made).toEqual({ ...Object.fromEntries(Object.keys(made).map(name => [name, 0])), ...acknowledged })
    expect(audit).toBeUndefined()
    expect(service.faults()).toEqual([])
  })
}

/** The audit chain is walked while it is short. */
const order = ({ path, method }: Operation): number =>
  path.includes('/audit/') ? -1 : ['GET', 'DELETE', 'PUT', 'POST'].indexOf(method)
