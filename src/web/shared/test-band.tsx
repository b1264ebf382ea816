import type { ComponentChildren } from 'preact'
import { useCommon } from './language.tsx'

/** Across the top of whatever belongs to the test environment. */
export function TestBand({ children }: { children?: ComponentChildren }) {
  const words = useCommon()
  return (
    <aside class="test-band" aria-label={words.testLabel}>
      <strong>{words.testBand}</strong>
      {children}
    </aside>
  )
}
