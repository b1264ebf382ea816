// Readiness of a process: the others still wait for what it holds, and its database can be written.
import { type Clock, within } from '../base/time.ts'
import { REFUSED_MS } from '../base/unavailable.ts'
import type { Engine } from './engine.ts'
import type { Space } from './opening.ts'
import { recordShownAt } from './shown-at.ts'

const READY_TIMEOUT_MS = 5000

type Proving = Pick<Engine, 'write' | 'leases'> & {
  space: Space
  now: Clock
  /** How long a durable write proves that the next one will succeed; shorter after one that failed for lack of room. */
  provenMs(): number
}

export function createReadiness({ write, space, now, leases, provenMs }: Proving): Engine['isReady'] {
  let last: { at: number; validMs: number; ready: Promise<boolean> } | undefined
  return async () => {
    if (!leases.isHeld()) return false
    const at = now()
    if (!last || at - last.at >= Math.min(last.validMs, provenMs())) {
      const asked = { at, validMs: provenMs(), ready: succeeds(recordShownAt({ write, space }, at)) }
      last = asked
      void asked.ready.then(isGood => {
        // More frequent requests get the same refusal: the check is a durable write, and the route is public.
        if (!isGood) asked.validMs = REFUSED_MS
      })
    }
    return await last.ready
  }
}

const succeeds = async (writing: Promise<void>): Promise<boolean> =>
  await within(
    READY_TIMEOUT_MS,
    writing.then(
      () => true,
      () => false,
    ),
    () => false,
  )
