import { Seal } from '../shared/seal.tsx'
import { useHeadline } from './headline.ts'
import type { Check } from './memory.ts'
import { Stop } from './stop.tsx'

/** The server has a check in hand, and there is nothing to show but that. */
export function Waiting({ check, title, line }: { check: Check; title: string; line: string }) {
  useHeadline(line)
  return (
    <main class="hold">
      <Seal state="busy" size={120} />
      <h1>{line}</h1>
      <p class="secondary">{title}</p>
      <Stop check={check} isAsked={check.id !== undefined} />
    </main>
  )
}
