import type { ComponentChildren } from 'preact'
import { Button } from '../../kit/button.tsx'
import { Notice } from '../../kit/notice.tsx'
import { Seal } from '../../kit/seal.tsx'
import { ApiFailure } from '../../shared/api.ts'
import { useCommon } from '../../shared/language.ts'
import type { Data } from '../data.ts'
import { useDashboardWords } from '../words.ts'
import { Problem } from './problem.tsx'

/** Shows a spinner, the error or the value; an old value stays, marked as such. */
export function Loaded<Value>({ data, children }: { data: Data<Value>; children: (value: Value) => ComponentChildren }) {
  const words = useDashboardWords()
  if (data.value !== undefined) {
    return (
      <>
        {data.isStale && <Notice tone="wait">{words.stale}</Notice>}
        {children(data.value)}
      </>
    )
  }
  if (data.problem !== undefined) return <Failed problem={data.problem} onRetry={data.reload} />
  return <Loading />
}

export function Failed({ problem, onRetry }: { problem: unknown; onRetry: () => void }) {
  const words = useDashboardWords()
  const isFinal = problem instanceof ApiFailure && (problem.status === 403 || problem.status === 404)
  return (
    <div class="stack">
      <Problem of={problem} />
      {!isFinal && (
        <div>
          <Button onClick={onRetry}>{words.retry}</Button>
        </div>
      )}
    </div>
  )
}

export function Loading() {
  const common = useCommon()
  return (
    <div class="loading-place">
      <Seal state="busy" size={48} label={common.loading} />
    </div>
  )
}
