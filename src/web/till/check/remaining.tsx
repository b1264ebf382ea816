import { Seal } from '../../kit/seal.tsx'
import { minutes } from '../../shared/time.tsx'
import { useTillWords } from '../words.ts'

/** The remaining time in a ring. Not announced by itself: a speaking clock is a nuisance. */
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
