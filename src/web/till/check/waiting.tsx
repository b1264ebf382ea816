import { Seal } from '../../kit/seal.tsx'
import { Heading } from '../heading.tsx'
import type { Check } from '../memory.ts'
import { Stop } from './stop.tsx'

/** Waiting for the server. */
export function Waiting({ check, title, line }: { check: Check; title: string; line: string }) {
  return (
    <main class="hold">
      <Seal state="busy" size={120} />
      <Heading text={line} />
      <p class="secondary">{title}</p>
      <Stop check={check} isAsked={check.id !== undefined} />
    </main>
  )
}
