import { useState } from 'preact/hooks'
import type { AuditRecord } from '../../../dashboard/settings-schema.ts'
import { Empty } from '../../shared/empty.tsx'
import { Table } from '../../shared/table.tsx'
import { Time } from '../../shared/time.tsx'
import { Facts } from '../facts.tsx'
import { Failed, Loading } from '../loaded.tsx'
import { More } from '../more.tsx'
import { Page } from '../page.tsx'
import { type Pages, usePages } from '../pages.ts'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { AuditChain } from './audit-chain.tsx'
import { useActorName } from './timeline.tsx'

const SCOPES = ['shop', 'all'] as const
type Scope = (typeof SCOPES)[number]

export function Audit() {
  const words = useDashboardWords().audit
  const { session } = useSession()
  const { inTenant } = usePlace()
  const [scope, setScope] = useState<Scope>('shop')
  const pages = usePages<AuditRecord>(`${scope === 'all' ? 'audit' : inTenant('audit')}?limit=50`)
  return (
    <Page title={words.title} intro={words.intro}>
      {session.user.is_owner && <AuditChain />}
      {session.user.is_owner && (
        <div class="filters">
          <select aria-label={words.scope} value={scope} onChange={event => setScope(event.currentTarget.value as Scope)}>
            {SCOPES.map(each => (
              <option key={each} value={each}>
                {words.scopes[each]}
              </option>
            ))}
          </select>
        </div>
      )}
      <Records pages={pages} />
    </Page>
  )
}

function Records({ pages }: { pages: Pages<AuditRecord> }) {
  const words = useDashboardWords().audit
  const actorName = useActorName()
  const { rows, problem } = pages
  if (!rows) return problem === undefined ? <Loading /> : <Failed problem={problem} onRetry={pages.reload} />
  if (rows.length === 0 && !pages.hasMore) return <Empty title={words.emptyTitle}>{words.empty}</Empty>
  return (
    <>
      <Table
        caption={words.caption}
        columns={[
          {
            title: <span class="minor">{words.number}</span>,
            kind: 'number',
            cell: ({ seq }) => <code class="minor">{seq}</code>,
          },
          { title: words.action, kind: 'grows', cell: record => <What record={record} /> },
          {
            title: <span class="minor">{words.actor}</span>,
            cell: record => <span class="cut minor">{actorName(record.actor)}</span>,
          },
          {
            title: <span class="minor">{words.at}</span>,
            kind: 'number',
            cell: ({ at }) => (
              <span class="minor">
                <Time at={at} />
              </span>
            ),
          },
        ]}
        rows={rows}
        keyOf={({ seq }) => String(seq)}
      />
      <More pages={pages} />
    </>
  )
}

/** What was done; opened, to what, and the record's place in the chain. */
function What({ record: { action, actor, details, hash, at } }: { record: AuditRecord }) {
  const words = useDashboardWords().audit
  const actorName = useActorName()
  return (
    <details class="record">
      <summary>
        {words.actions[action] ?? action}
        <span class="below">
          {actorName(actor)} · <Time at={at} />
        </span>
      </summary>
      <div class="stack tight">
        {details === null ? (
          <p class="secondary">{words.erasedDetails}</p>
        ) : (
          <Facts facts={Object.entries(details).map(([name, value]) => [name, <code key={name}>{shown(value)}</code>])} />
        )}
        <Facts
          facts={[
            [words.at, <code key="at">{at}</code>],
            [words.hash, <code key="hash">{hash}</code>],
          ]}
        />
      </div>
    </details>
  )
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
