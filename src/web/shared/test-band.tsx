import type { ComponentChildren } from 'preact'
import { useCommon } from './language.tsx'

export function TestBand({ children }: { children?: ComponentChildren }) {
  const words = useCommon()
  return (
    <aside class="test-band" aria-label={words.testLabel}>
      <strong>{words.testBand}</strong>
      {children}
    </aside>
  )
}
