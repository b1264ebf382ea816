import { Seal } from '../shared/seal.tsx'
import { useNow } from '../shared/time.tsx'
import { useTillWords } from './words.ts'

/** How much time a session has left, by the server's clock. */
export function useLeftMs({ expires_at }: { expires_at: string }, aheadMs: number): number {
  return Math.max(0, Date.parse(expires_at) - (useNow(1000) + aheadMs))
}

/** A ring that closes, with the time inside. Not read out by itself: a clock that speaks is a nuisance. */
export function Remaining({ leftMs, wholeMs, size }: { leftMs: number; wholeMs: number; size: number }) {
  const words = useTillWords()
  const time = minutes(leftMs)
  return (
    <div class="remaining" role="timer" aria-live="off" aria-label={words.left(time)}>
      <Seal state="waiting" size={size} left={leftMs / wholeMs} />
      <span>{time}</span>
    </div>
  )
}

export function minutes(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
