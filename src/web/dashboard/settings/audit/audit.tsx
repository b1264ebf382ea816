import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { AuditRecord } from '../../../../dashboard/settings/audit/schema.ts'
import { Empty } from '../../../kit/empty.tsx'
import { Choice } from '../../../kit/field.tsx'
import { Table } from '../../../kit/table.tsx'
import { useOutcomeNames } from '../../../shared/outcome.ts'
import { outcomeNameOf } from '../../../shared/outcome-code.ts'
import { Time } from '../../../shared/time.tsx'
import { usePages } from '../../pages.ts'
import { Facts } from '../../parts/facts.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Page } from '../../parts/page.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { useActorName } from '../../verifications/timeline.tsx'
import { AuditChain } from './audit-chain.tsx'
import { useAuditWords } from './words.ts'

const SCOPES = ['shop', 'all'] as const
type Scope = (typeof SCOPES)[number]

export function Audit() {
  const words = useAuditWords()
  const { session } = useSession()
  const { inTenant } = usePlace()
  const [scope, setScope] = useState<Scope>('shop')
  const pages = usePages<AuditRecord>(`${scope === 'all' ? 'audit' : inTenant('audit')}?limit=50`)
  return (
    <Page title={words.title} intro={words.intro}>
      {session.user.is_owner && <AuditChain />}
      {session.user.is_owner && (
        <div class="filters row tight">
          <Choice
            label={words.scope}
            value={scope}
            options={SCOPES.map(each => [each, words.scopes[each]])}
            onChoose={setScope}
          />
        </div>
      )}
      <Listed pages={pages}>
        {rows =>
          rows.length === 0 && !pages.hasMore ? <Empty title={words.emptyTitle}>{words.empty}</Empty> : <Records rows={rows} />
        }
      </Listed>
    </Page>
  )
}

function Records({ rows }: { rows: readonly AuditRecord[] }) {
  const words = useAuditWords()
  const actorName = useActorName()
  return (
    <Table
      caption={words.caption}
      columns={[
        { title: words.number, kind: 'number', folds: 'phone', cell: ({ seq }) => <code>{seq}</code> },
        { title: words.action, kind: 'grows', cell: (record, folded) => <Details record={record}>{folded}</Details> },
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

/** The action; opened, its details and the record's place in the chain. */
function Details({ record, children }: { record: AuditRecord; children: ComponentChildren }) {
  const { actor, actor_label, details, hash, at } = record
  const words = useAuditWords()
  return (
    <details class="record">
      <summary>
        <Action {...record} />
        <span class="one-line">{children}</span>
      </summary>
      <div class="stack tight">
        {details === null ? (
          <p class="secondary">{words.erasedDetails}</p>
        ) : (
          <Facts facts={Object.entries(details).map(([name, value]) => [name, <code key={name}>{shown(value)}</code>])} />
        )}
        <Facts
          facts={[
            [words.actor, actor_label && <code key="actor">{actor}</code>],
            [words.at, <code key="at">{at}</code>],
            [words.hash, <code key="hash">{hash}</code>],
          ]}
        />
      </div>
    </details>
  )
}

/** How a verification failed is in its details, until they are erased. */
function Action({ action, details }: AuditRecord) {
  const words = useAuditWords()
  const names = useOutcomeNames()
  const code = action === 'verification.failed' && details?.error
  return typeof code === 'string' ? names[outcomeNameOf({ status: 'failed', code })] : (words.actions[action] ?? action)
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
