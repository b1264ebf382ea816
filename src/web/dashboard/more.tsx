import { Button } from '../shared/button.tsx'
import type { Pages } from './pages.ts'
import { Problem } from './problem.tsx'
import { useDashboardWords } from './words.ts'

/** The end of a list that goes on. */
export function More<Row>({ pages: { rows, hasMore, isBusy, more, problem } }: { pages: Pages<Row> }) {
  const words = useDashboardWords()
  if (!hasMore && problem === undefined) return null
  return (
    <div class="more stack">
      <Problem of={problem} />
      {hasMore && (
        <Button busy={isBusy} onClick={more}>
          {rows?.length ? words.more : words.lookFurther}
        </Button>
      )}
    </div>
  )
}
