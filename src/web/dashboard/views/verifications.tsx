import { useState } from 'preact/hooks'
import type { VerificationSummary } from '../../../dashboard/verification-schema.ts'
import type { Status } from '../../../verifications/schema.ts'
import { Choice } from '../../shared/field.tsx'
import { useCommon, useLanguage } from '../../shared/language.tsx'
import { Notice } from '../../shared/notice.tsx'
import { Listed, NoMatch } from '../listed.tsx'
import { Page } from '../page.tsx'
import { usePages } from '../pages.ts'
import { Split } from '../panel.tsx'
import { goTo, hrefTo, useRoute } from '../route.tsx'
import { usePlace } from '../session.tsx'
import { type TemplatesData, useTemplates } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { TryIt } from './try-it.tsx'
import { VerificationDetailPanel } from './verification-detail.tsx'
import { VerificationTable } from './verification-table.tsx'
import { VerificationsEmpty } from './verifications-empty.tsx'

const STATUSES: readonly Status[] = ['pending', 'completed', 'failed', 'expired']

type Filter = { status: string | null; template: string | null }

export function Verifications({ id }: { id: string }) {
  const words = useDashboardWords().verifications
  const { environment, inTenant } = usePlace()
  const { search } = useRoute()
  const templates = useTemplates()
  const filter = { status: search.get('status'), template: search.get('template') }
  const pages = usePages<VerificationSummary>(inTenant(`verifications?${queryOf(environment, filter)}`))
  const follow = (seen: VerificationSummary) => {
    if (!pages.rows || filter.status || filter.template) return
    if (pages.rows.some(row => row.id === seen.id)) pages.change(rows => rows.map(row => (row.id === seen.id ? seen : row)))
    else if (seen.created_at > (pages.rows[0]?.created_at ?? '')) pages.reload()
  }
  const [isErased, setIsErased] = useState(false)
  const isEmpty = pages.rows?.length === 0 && !filter.status && !filter.template && !pages.hasMore
  return (
    <Page title={words.title} intro={words.intro} actions={!isEmpty && <TryIt />}>
      <div role="status">{isErased && !id && <Notice tone="ok">{words.erased}</Notice>}</div>
      <Split
        list={
          isEmpty ? (
            <VerificationsEmpty title={words.emptyTitle[environment]}>{words.empty}</VerificationsEmpty>
          ) : (
            <>
              <Filters filter={filter} templates={templates} />
              <Listed pages={pages}>
                {rows =>
                  rows.length > 0 ? (
                    <VerificationTable rows={rows} templates={templates} chosen={id} />
                  ) : (
                    <NoMatch view="verifications" />
                  )
                }
              </Listed>
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
                goTo(hrefTo('verifications', filter))
              }}
            />
          )
        }
      />
    </Page>
  )
}

function queryOf(environment: string, { status, template }: Filter): string {
  return new URLSearchParams({ environment, ...(status && { status }), ...(template && { template }) }).toString()
}

function Filters({ filter, templates }: { filter: Filter; templates: TemplatesData }) {
  const words = useDashboardWords().verifications
  const common = useCommon()
  const language = useLanguage()
  const choose = (change: Partial<Filter>) => goTo(hrefTo('verifications', { ...filter, ...change }), { replace: true })
  return (
    <fieldset class="filters">
      <legend class="only-heard">{words.filters}</legend>
      <Choice
        label={words.status}
        value={filter.status ?? ''}
        options={[['', words.anyStatus], ...STATUSES.map(status => [status, common.statuses[status]] as const)]}
        onChoose={status => choose({ status: status || null })}
      />
      <Choice
        label={words.template}
        value={filter.template ?? ''}
        options={[
          ['', words.anyTemplate],
          ...(templates.value?.data ?? []).map(each => [each.key, each.localized.title[language]] as const),
        ]}
        onChoose={template => choose({ template: template || null })}
      />
    </fieldset>
  )
}
