import { useEffect, useState } from 'preact/hooks'
import type { VerificationCount, VerificationSummary } from '../../../dashboard/verifications/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Notice } from '../../kit/notice.tsx'
import { useAction } from '../action.ts'
import { useData, useWhileUsed } from '../data.ts'
import { useFormat } from '../format.ts'
import { type Pages, usePages } from '../pages.ts'
import { Listed, NoMatch } from '../parts/listed.tsx'
import { Page } from '../parts/page.tsx'
import { Split } from '../parts/panel.tsx'
import { Problem } from '../parts/problem.tsx'
import { saveFile } from '../parts/save-file.ts'
import { goTo, hrefTo, useRoute } from '../route.tsx'
import { useRows } from '../rows.ts'
import { ForEditors, usePlace, useSession } from '../session.tsx'
import { useTemplates } from '../template-names.ts'
import { VerificationDetailPanel } from './detail.tsx'
import { VerificationsEmpty } from './empty.tsx'
import { Filters, filterOf, isFiltered, queryOf } from './filters.tsx'
import { VerificationTable } from './table.tsx'
import { EmptyTest, FillTest } from './test-data.tsx'
import { TryIt } from './try-it.tsx'
import { useVerificationsWords } from './words.ts'

export function Verifications({ id }: { id: string }) {
  const words = useVerificationsWords()
  const { environment, inTenant } = usePlace()
  const { search } = useRoute()
  const templates = useTemplates()
  const { number } = useFormat()
  const filter = filterOf({ search })
  const pages = usePages<VerificationSummary>(inTenant(`verifications?${queryOf(environment, filter)}`))
  const follow = (seen: VerificationSummary) => {
    if (!pages.rows || isFiltered(filter)) return
    if (pages.rows.some(row => row.id === seen.id))
      pages.change(rows => rows.map(row => (row.id === seen.id ? { ...row, ...seen } : row)))
    else if (seen.created_at > (pages.rows[0]?.created_at ?? '')) pages.reload()
  }
  const { total, fresh, show } = useNews(pages, inTenant(`verifications/count?${queryOf(environment, filter)}`))
  const [isErased, setIsErased] = useState(false)
  const isEmpty = pages.rows?.length === 0 && !isFiltered(filter) && !pages.hasMore
  // The actions are in one of two places; while the list is unknown they wait, so that an open dialog is not lost.
  return (
    <Page
      title={words.title}
      intro={words.intro}
      areActionsHeld={!pages.rows}
      actions={
        !isEmpty && (
          <>
            <ForEditors>
              <Export query={queryOf(environment, filter)} />
            </ForEditors>
            <TryIt />
          </>
        )
      }
    >
      <div role="status">{isErased && !id && <Notice tone="ok">{words.erased}</Notice>}</div>
      {!isEmpty && <Filters filter={filter} templates={templates} />}
      <Split
        list={
          isEmpty ? (
            <VerificationsEmpty title={words.emptyTitle[environment]} onFilled={pages.reload}>
              {words.empty}
            </VerificationsEmpty>
          ) : (
            <>
              <div class="row between">
                <p class="secondary">{total}</p>
                <div role="status">
                  {fresh.length > 0 && <Button onClick={show}>{words.showNew(number(fresh.length))}</Button>}
                </div>
              </div>
              <Listed pages={pages}>
                {rows =>
                  rows.length > 0 ? (
                    <VerificationTable rows={rows} templates={templates} chosen={id} />
                  ) : (
                    <NoMatch view="verifications" hint={filter.search ? words.wholeOnly : undefined} />
                  )
                }
              </Listed>
              <div class="row">
                <FillTest onDone={pages.reload} />
                <EmptyTest onDone={pages.reload} />
              </div>
            </>
          )
        }
        panel={
          id && (
            <VerificationDetailPanel
              key={id}
              id={id}
              templates={templates}
              backTo={hrefTo('verifications', filter)}
              onSeen={follow}
              onErased={() => {
                setIsErased(true)
                pages.change(rows => rows.filter(row => row.id !== id))
                // A list that is under way may still have it. Another stays, with all that is loaded of it.
                if (pages.isBusy) pages.reload()
                goTo(hrefTo('verifications', filter))
              }}
            />
          )
        }
      />
    </Page>
  )
}

const LOOK_MS = 10_000

/** The number of rows of a list, and those that came since it was loaded. Rows that it has are renewed where they stand. */
function useNews(pages: Pages<VerificationSummary>, path: string) {
  const words = useVerificationsWords()
  const { number } = useFormat()
  const pageRows = useRows()
  const counted = useData<VerificationCount>(path)
  const [fresh, setFresh] = useState<readonly VerificationSummary[]>([])
  const { rows } = pages
  useEffect(() => setFresh([]), [path])
  useWhileUsed(LOOK_MS, async () => {
    if (!rows || pages.isBusy) return
    // The next look may succeed.
    const now = await pages.look().catch(() => rows)
    const byId = new Map(now.map(row => [row.id, row]))
    const newest = rows[0]?.created_at ?? ''
    setFresh(now.filter(row => row.created_at > newest))
    pages.change(known => known.map(row => byId.get(row.id) ?? row))
  })
  const { count, is_more } = counted.value ?? {}
  return {
    total: count === undefined ? ' ' : words.total(`${number(count)}${is_more ? '+' : ''}`, count === 1 && !is_more),
    fresh,
    show: () => {
      // A whole page of new ones may have more below it.
      if (fresh.length < pageRows) pages.change(known => [...fresh, ...known])
      else pages.reload()
      setFresh([])
      counted.reload()
    },
  }
}

/** The rows of the filter as a file, also those that are not loaded yet. */
function Export({ query }: { query: string }) {
  const words = useVerificationsWords()
  const { inTenant } = usePlace()
  const { download } = useSession()
  const action = useAction(async () => saveFile('verifications.csv', await download(inTenant(`verifications/export?${query}`))))
  return (
    <>
      <Button busy={action.isBusy} title={words.exportMore} onClick={() => action.run()}>
        {words.export}
      </Button>
      <Problem of={action.problem} />
    </>
  )
}
