// The states of a reading, from the code on the phone to the recorded answer, and why it ends without one.
import type { TransportFailure } from '../../../verifications/exchange/in-person/schema.ts'
import { reading as words } from './en.ts'

/** Why a new code is needed. */
export type Problem = keyof typeof words.problems
/** Why the phone was not connected; the same code can be tried again. */
export type Obstacle = keyof typeof words.obstacles

/** A phone that can be connected, and the request for it. */
export type Target = { service: string; message: Uint8Array }

export type Reading =
  | { step: 'off' | 'preparing' | 'connecting' | 'waiting' | 'sending' }
  | { step: 'scanning'; problem?: Problem }
  | { step: 'pairing'; target: Target; obstacle?: Obstacle }

export type FaultCode = TransportFailure['code']

/** What each fault of the connection is for the people at the counter. */
const MEANINGS: Readonly<Record<FaultCode, Problem | Obstacle>> = {
  no_bluetooth: 'no_bluetooth',
  not_chosen: 'not_chosen',
  not_connected: 'not_connected',
  wrong_service: 'wrong_service',
  write_failed: 'lost',
  bad_chunk: 'unreadable',
  too_large: 'unreadable',
  lost: 'lost',
  timed_out: 'lost',
}

/** There is no answer. */
export class Unread extends Error {
  constructor(readonly why: Problem | Obstacle) {
    super(why)
  }
}

/** The connection to the phone failed; the service is told the code. A page can tell more than it wants to know. */
export class Fault extends Unread {
  constructor(
    readonly code: FaultCode,
    why = MEANINGS[code],
  ) {
    super(why)
    this.message = code
  }
}

/** Rejects with the fault if the work fails or takes too long. */
export function within<Result>(work: Promise<Result>, ms: number, code: () => FaultCode): Promise<Result> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Fault(code()))
    const timer = setTimeout(fail, ms)
    work.then(resolve, fail).finally(() => clearTimeout(timer))
  })
}

export function afterFailure(why: Problem | Obstacle, target?: Target): Reading {
  const isObstacle = (each: string): each is Obstacle => Object.hasOwn(words.obstacles, each)
  if (!isObstacle(why)) return { step: 'scanning', problem: why }
  return target ? { step: 'pairing', target, obstacle: why } : { step: 'scanning' }
}

/** Bluetooth was switched on. */
export const afterSwitch = (reading: Reading): Reading =>
  reading.step === 'pairing' ? { step: 'pairing', target: reading.target } : reading

/** The code of a wallet, as it was scanned or typed by a hand scanner. */
export function codeOf(text: string): { engagement: string } | { problem: Problem } {
  const engagement = text.trim()
  if (/^mdoc:(?:\/\/)?[\w-]+={0,2}$/i.test(engagement)) return { engagement }
  // A scanner that is set to another keyboard swaps characters.
  return { problem: /^mdoc/i.test(engagement) ? 'scanner_layout' : 'other_code' }
}
