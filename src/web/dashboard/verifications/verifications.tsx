import { useState } from 'preact/hooks'
import type { VerificationSummary } from '../../../dashboard/verifications/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Notice } from '../../kit/notice.tsx'
import { useAction } from '../action.ts'
import { usePages } from '../pages.ts'
import { Listed, NoMatch } from '../parts/listed.tsx'
import { Page } from '../parts/page.tsx'
import { Split } from '../parts/panel.tsx'
import { Problem } from '../parts/problem.tsx'
import { saveFile } from '../parts/save-file.ts'
import { goTo, hrefTo, useRoute } from '../route.tsx'
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
  const filter = filterOf({ search })
  const pages = usePages<VerificationSummary>(inTenant(`verifications?${queryOf(environment, filter)}`))
  const follow = (seen: VerificationSummary) => {
    if (!pages.rows || isFiltered(filter)) return
    if (pages.rows.some(row => row.id === seen.id))
      pages.change(rows => rows.map(row => (row.id === seen.id ? { ...row, ...seen } : row)))
    else if (seen.created_at > (pages.rows[0]?.created_at ?? '')) pages.reload()
  }
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
      <Split
        list={
          isEmpty ? (
            <VerificationsEmpty title={words.emptyTitle[environment]} onFilled={pages.reload}>
              {words.empty}
            </VerificationsEmpty>
          ) : (
            <>
              <Filters filter={filter} templates={templates} />
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
