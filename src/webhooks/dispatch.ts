// The loop of the outbox: claim what is due, deliver it, record how it ended. An attempt is in the log before it is sent, and a lease says
// that it is under way; what the process does not live to see is found again at the next start. So each message arrives at least once.

import type { EgressCall } from '../egress/client.ts'
import { describeFailure } from '../log.ts'
import { within } from '../time.ts'
import { type CourierAnswer, hireWorker, startCourier } from './courier.ts'
import { deliver, type Flight, LIMITS, type Render } from './deliver.ts'
import type { Deps } from './deps.ts'
import { createLanes, type Lane, PER_TENANT_MAX } from './lanes.ts'
import type { Sender } from './outbox.ts'
import { recordAttempt, recoverInterrupted } from './record.ts'
import { beginAttempt, claimDue, listDueLanes, nextDueIn } from './store.ts'

const PLACES = { atOnce: 32, perReceiver: 4, perTenant: PER_TENANT_MAX }
/** Longer than any attempt. It marks what is under way: whatever still has a lease at a start was interrupted. */
const LEASE_MS = 60_000
/** How often the clock and the other processes' writes are looked at; new work of our own is not waited for. */
const LOOK_EVERY_MS = 200
/** When the database could not be written. */
const AFTER_FAILURE_MS = 1000
/** What is under way when the service stops may come to its end. */
const DRAIN_MS = 2000

type DispatchDeps = Pick<
  Deps,
  'db' | 'write' | 'now' | 'random' | 'sealer' | 'egress' | 'resolve' | 'config' | 'log' | 'metrics' | 'subscribe'
>

export type Dispatch = Sender & { stop(): Promise<void> }

/** The thread that sends, and how much time and room a receiver is given. */
export type Sending = { hire?: () => Worker; limits?: EgressCall['limits'] }

export async function startDispatch(
  deps: DispatchDeps,
  render: Render,
  { hire = hireWorker, limits = LIMITS }: Sending = {},
): Promise<Dispatch> {
  const courier = startCourier(deps.log, hire)
  const lanes = createLanes(PLACES)
  const flights = new Map<string, { flight: Flight; ended: Promise<void> }>()
  let isStopped = false
  let serving: Promise<void> | undefined
  let isCalledAgain = false
  let isListed = false

  await recoverInterrupted(deps)
  const unsubscribe = deps.subscribe('owed', () => {
    isListed = false
    serve()
  })
  const timer = setInterval(serve, LOOK_EVERY_MS)
  serve()

  /** One round at a time; a call during a round makes another one follow. */
  function serve(): void {
    if (isStopped) return
    if (serving) {
      isCalledAgain = true
      return
    }
    serving = round()
      .catch(error => deps.log.error('webhooks.round_failed', { failure: describeFailure(error) }))
      .finally(() => {
        serving = undefined
        if (!isCalledAgain) return
        isCalledAgain = false
        serve()
      })
  }

  async function round(): Promise<void> {
    await listDue()
    if (!courier.isReady()) return
    const places = lanes.take(deps.now())
    if (places.length === 0) return
    const claimed = await claim(places)
    for (const flight of claimed) {
      const ended = fly(flight).finally(() => flights.delete(flight.id))
      flights.set(flight.id, { flight, ended })
    }
  }

  async function listDue(): Promise<void> {
    if (isListed) return
    isListed = true
    try {
      for (const due of await listDueLanes(deps.db)) lanes.add(due)
    } catch (error) {
      isListed = false
      throw error
    }
  }

  async function claim(places: Lane[]): Promise<Flight[]> {
    const now = deps.now()
    const perLane = [...Map.groupBy(places, ({ lane, tenantId }) => `${lane} ${tenantId}`).values()]
    try {
      const served = await deps.write(async tx => {
        const served: { lane: Lane; unused: number; dueAt: number | undefined; flights: Flight[] }[] = []
        for (const wanted of perLane) {
          const lane = wanted[0]!
          const flights: Flight[] = []
          for (const delivery of await claimDue(tx, lane, { now, leaseUntil: now + LEASE_MS, limit: wanted.length })) {
            const { id: deliveryId, tenantId, attempts } = delivery
            const attemptId = await beginAttempt(tx, { deliveryId, tenantId, attempt: attempts + 1, at: now })
            flights.push({ ...delivery, attemptId, at: now, isCancelled: false })
          }
          served.push({ lane, unused: wanted.length - flights.length, dueAt: await nextDueIn(tx, lane), flights })
        }
        return served
      })
      for (const { lane, unused, dueAt } of served) {
        for (let i = 0; i < unused; i++) lanes.leave(lane)
        if (dueAt !== undefined) lanes.add({ ...lane, dueAt })
      }
      // What one lane had no use for may be another's.
      if (served.some(({ unused }) => unused > 0)) serve()
      return served.flatMap(({ flights }) => flights)
    } catch (error) {
      for (const lane of places) lanes.leave(lane)
      for (const [lane] of perLane) lanes.add({ ...lane!, dueAt: now + AFTER_FAILURE_MS })
      throw error
    }
  }

  async function fly(flight: Flight): Promise<void> {
    const startedAt = performance.now()
    const answer = await deliver(deps, { courier, render, limits }, flight).catch((error): CourierAnswer => {
      deps.log.error('webhooks.attempt_failed', { ...idsOf(flight), failure: describeFailure(error) })
      return { ok: false, failure: 'interrupted', detail: 'The message could not be made.' }
    })
    const ms = performance.now() - startedAt
    // Its place is free at once: the next claim shares a commit with this record.
    lanes.leave(flight)
    serve()
    while (!(await isRecorded(flight, answer, ms)) && !isStopped) await Bun.sleep(AFTER_FAILURE_MS)
  }

  async function isRecorded(flight: Flight, answer: CourierAnswer, ms: number): Promise<boolean> {
    try {
      const dueAt = await recordAttempt(deps, flight, answer, ms)
      if (dueAt !== undefined) lanes.add({ lane: flight.lane, tenantId: flight.tenantId, dueAt })
      if (dueAt !== undefined && dueAt <= deps.now()) serve()
      return true
    } catch (error) {
      deps.log.error('webhooks.record_failed', { ...idsOf(flight), failure: describeFailure(error) })
      return false
    }
  }

  return {
    owed(due) {
      lanes.add(due)
      serve()
    },
    async cancel(verificationIds) {
      const erased = new Set(verificationIds)
      const own = [...flights.values()].filter(({ flight }) => erased.has(flight.verificationId))
      for (const { flight } of own) {
        flight.isCancelled = true
        courier.cancel(flight.id)
      }
      await Promise.all(own.map(({ ended }) => ended))
    },
    async stop() {
      isStopped = true
      unsubscribe()
      clearInterval(timer)
      await serving
      await within(DRAIN_MS, allEnded(), () => {})
      courier.stop()
      await allEnded()
    },
  }

  async function allEnded(): Promise<void> {
    await Promise.all([...flights.values()].map(({ ended }) => ended))
  }
}

const idsOf = ({ requestId, tenantId }: Flight) => ({ request_id: requestId ?? undefined, tenant: tenantId })
