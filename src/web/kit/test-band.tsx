import type { ComponentChildren } from 'preact'
import { HAS_TEST_ANCHORS } from '../shared/base.ts'
import { useCommon } from '../shared/language.ts'

export function TestBand({ children }: { children?: ComponentChildren }) {
  const words = useCommon()
  return (
    <aside class="band test-band row" aria-label={words.testLabel}>
      <strong>{HAS_TEST_ANCHORS ? words.testMode : words.testBand}</strong>
      {children}
    </aside>
  )
}
