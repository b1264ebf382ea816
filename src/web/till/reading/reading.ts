// The states of a reading, from the code on the phone to the recorded answer.
import type { Trouble } from './fault.ts'

/** A phone that can be connected, and the request for it. */
export type Target = { service: string; message: Uint8Array }

/** Why a new code is needed. */
export type Problem =
  | 'other_code'
  | 'scanner_layout'
  | 'invalid_engagement'
  | 'engagement_not_supported'
  | 'not_askable_in_person'
  | 'rate_limit_exceeded'
  | 'refused'
  | 'no_browser'
  | 'not_connected'
  | 'wrong_service'
  | 'lost'
  | 'unreadable'
  | 'closed'
  | 'nothing_shared'

/** Why the phone was not connected; the same code can be tried again. */
export type Obstacle = 'not_chosen' | 'none_seen' | 'no_bluetooth' | 'not_allowed'

export type Reading =
  | { step: 'off' | 'preparing' | 'connecting' | 'waiting' | 'sending' }
  | { step: 'scanning'; problem?: Problem }
  | { step: 'pairing'; target: Target; obstacle?: Obstacle }

export type Happened =
  | { type: 'began' | 'left' | 'connecting' | 'sent' | 'received' | 'switched_on' }
  | { type: 'scanned'; code: Code }
  | { type: 'prepared'; target: Target }
  | { type: 'failed'; why: Problem | Obstacle; target?: Target }

export type Code = { engagement: string } | { problem: Problem }

export const OFF: Reading = { step: 'off' }

export function after(reading: Reading, happened: Happened): Reading {
  switch (happened.type) {
    case 'began':
      return { step: 'scanning' }
    case 'left':
      return OFF
    case 'scanned':
      return 'problem' in happened.code ? { step: 'scanning', problem: happened.code.problem } : { step: 'preparing' }
    case 'prepared':
      return { step: 'pairing', target: happened.target }
    case 'connecting':
      return { step: 'connecting' }
    case 'sent':
      return { step: 'waiting' }
    case 'received':
      return { step: 'sending' }
    case 'switched_on':
      return reading.step === 'pairing' ? { step: 'pairing', target: reading.target } : reading
    case 'failed':
      return isObstacle(happened.why) && happened.target
        ? { step: 'pairing', target: happened.target, obstacle: happened.why }
        : { step: 'scanning', problem: happened.why as Problem }
  }
}

const OBSTACLES: readonly string[] = ['not_chosen', 'none_seen', 'no_bluetooth', 'not_allowed'] satisfies Obstacle[]
const isObstacle = (why: Problem | Obstacle): why is Obstacle => OBSTACLES.includes(why)

/** The code of a wallet, as it was scanned or typed by a hand scanner. */
export function codeOf(text: string): Code {
  const engagement = text.trim()
  if (/^mdoc:(?:\/\/)?[\w-]+={0,2}$/i.test(engagement)) return { engagement }
  // A scanner that is set to another keyboard swaps characters.
  return { problem: /^mdoc/i.test(engagement) ? 'scanner_layout' : 'other_code' }
}

/** What a fault is for the people at the counter. */
export function problemOf(trouble: Trouble): Problem | Obstacle {
  switch (trouble) {
    case 'bad_chunk':
    case 'too_large':
      return 'unreadable'
    case 'write_failed':
    case 'timed_out':
      return 'lost'
    default:
      return trouble
  }
}
