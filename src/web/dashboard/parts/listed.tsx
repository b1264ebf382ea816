import type { ComponentChildren } from 'preact'
import { Button } from '../../kit/button.tsx'
import { Choice } from '../../kit/field.tsx'
import type { Pages } from '../pages.ts'
import { goTo, hrefTo } from '../route.tsx'
import { chooseRows, ROWS, useRows } from '../rows.ts'
import { useVerificationsWords } from '../verifications/words.ts'
import { useDashboardWords } from '../words.ts'
import { Failed, Loading } from './loaded.tsx'
import { Problem } from './problem.tsx'

type Props<Row> = { pages: Pages<Row>; children: (rows: readonly Row[]) => ComponentChildren }

/** A long list: the rows so far, and a button for more. */
export function Listed<Row>({ pages: { rows, hasMore, isBusy, more, problem, reload }, children }: Props<Row>) {
  const words = useDashboardWords()
  const chosenRows = useRows()
  if (!rows) return problem === undefined ? <Loading /> : <Failed problem={problem} onRetry={reload} />
  return (
    <div class="stack" aria-busy={isBusy || undefined}>
      {children(rows)}
      {(hasMore || problem !== undefined) && (
        <div class="stack centred">
          <Problem of={problem} />
          {hasMore && (
            <div class="row tight">
              <Button busy={isBusy} onClick={more}>
                {rows.length > 0 ? words.more : words.lookFurther}
              </Button>
              <Choice
                label={words.rows}
                value={chosenRows}
                options={ROWS.map(each => [each, words.rowsOf(each)])}
                onChoose={chooseRows}
              />
            </div>
          )}
        </div>
      )}
    </div>
  )
}

export function NoMatch({ view, hint }: { view: string; hint?: string | undefined }) {
  const words = useVerificationsWords()
  return (
    <div class="nothing stack centred">
      <p class="secondary">{words.noMatch}</p>
      {hint && <p class="hint">{hint}</p>}
      <Button onClick={() => goTo(hrefTo(view), { replace: true })}>{words.clear}</Button>
    </div>
  )
}
