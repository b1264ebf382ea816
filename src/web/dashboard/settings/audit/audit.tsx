import type { ComponentChildren } from 'preact'
import type { AuditRecord } from '../../../../dashboard/settings/audit/schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Empty } from '../../../kit/empty.tsx'
import { Table } from '../../../kit/table.tsx'
import { useRegion } from '../../../shared/language.ts'
import { useOutcomeNames } from '../../../shared/outcome.ts'
import { outcomeNameOf } from '../../../shared/outcome-code.ts'
import { Time } from '../../../shared/time.tsx'
import { usePages } from '../../pages.ts'
import { Listed, NoMatch } from '../../parts/listed.tsx'
import { Page } from '../../parts/page.tsx'
import { hrefTo, Link, useRoute } from '../../route.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { useTemplates } from '../../template-names.ts'
import { useActorName } from '../../verifications/timeline.tsx'
import { useDashboardWords } from '../../words.ts'
import { AuditChain } from './audit-chain.tsx'
import { AuditFilters, auditFilterOf, isFiltered, usePath } from './audit-filters.tsx'
import { RecordFacts } from './record-facts.tsx'
import { useAuditWords } from './words.ts'

export function Audit() {
  const words = useAuditWords()
  const { environments } = useDashboardWords()
  const { session } = useSession()
  const { environment } = usePlace()
  const { search } = useRoute()
  const filter = auditFilterOf({ search })
  const pages = usePages<AuditRecord>(usePath(filter))
  const isWhole = filter.whose === 'all'
  return (
    <Page title={words.title} intro={words.intro}>
      {session.user.is_owner && <AuditChain />}
      <AuditFilters filter={filter} />
      {filter.about ? (
        <p class="secondary breaks">
          {words.about(filter.about)} <Link href={hrefTo('audit', { ...filter, about: null })}>{words.anything}</Link>
        </p>
      ) : (
        !isWhole && <p class="hint">{words.only(environments[environment])}</p>
      )}
      <Listed pages={pages}>
        {rows => {
          if (rows.length > 0) return <Records rows={rows} isWhole={isWhole} />
          if (isFiltered(filter)) return <NoMatch view="audit" />
          return !pages.hasMore && <Empty title={words.emptyTitle}>{words.empty}</Empty>
        }}
      </Listed>
    </Page>
  )
}

function Records({ rows, isWhole }: { rows: readonly AuditRecord[]; isWhole: boolean }) {
  const words = useAuditWords()
  const actorName = useActorName()
  const templates = useTemplates()
  const skippedBelow = useSkipped(rows)
  return (
    <Table
      caption={words.caption}
      columns={[
        { title: words.number, kind: 'number', folds: 'phone', cell: ({ seq }) => <code>{seq}</code> },
        {
          title: words.action,
          kind: 'grows',
          cell: (record, folded) => (
            <>
              <details class="record">
                <summary>
                  <Action {...record} /> {isWhole && <EnvironmentOf {...record} />}
                  <span class="one-line">{folded}</span>
                </summary>
                <div class="stack tight">
                  <RecordFacts record={record} templates={templates} />
                </div>
              </details>
              {skippedBelow(record)}
            </>
          ),
        },
        {
          title: words.actor,
          folds: 'phone',
          below: 'plain',
          cell: record => <span class="cut clipped">{actorName(record)}</span>,
          long: actorName,
        },
        { title: words.at, kind: 'number', folds: 'phone', below: 'plain', cell: ({ at }) => <Time at={at} /> },
      ]}
      rows={rows}
      keyOf={({ seq }) => String(seq)}
    />
  )
}

/** To whom the numbers between a record and the one below belong. */
function useSkipped(rows: readonly AuditRecord[]): (record: AuditRecord) => ComponentChildren {
  const words = useAuditWords()
  const { environments } = useDashboardWords()
  const { environment } = usePlace()
  const region = useRegion()
  const { installation, shops } = words.others
  const others = { installation, shops, environment: environments[environment === 'test' ? 'live' : 'test'] }
  const belowOf = new Map(rows.map((row, i) => [row.seq, rows[i + 1]]))
  return ({ seq }) => {
    const below = belowOf.get(seq)
    if (!below?.above) return null
    const [first, last] = [below.seq + 1, seq - 1]
    const numbers = first === last ? String(first) : words.range(String(first), String(last))
    const to = new Intl.ListFormat(region).format(below.above.map(each => others[each]))
    return <p class="skipped hint">{words.belongs(numbers, first === last, to)}</p>
  }
}

function EnvironmentOf({ details }: AuditRecord) {
  const { environments } = useDashboardWords()
  const environment = details?.environment
  if (environment !== 'test' && environment !== 'live') return null
  return <Badge tone={environment === 'test' ? 'wait' : 'neutral'}>{environments[environment]}</Badge>
}

/** How a verification failed is in its details, until they are erased. */
function Action({ action, details }: AuditRecord) {
  const words = useAuditWords()
  const names = useOutcomeNames()
  const code = action === 'verification.failed' && details?.error
  return typeof code === 'string' ? names[outcomeNameOf({ status: 'failed', code })] : (words.actions[action] ?? action)
}
