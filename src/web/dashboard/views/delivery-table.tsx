import type { DeliverySummary } from '../../../dashboard/verification-schema.ts'
import type { ListedDelivery } from '../../../dashboard/webhook-schema.ts'
import { Badge } from '../../shared/badge.tsx'
import { Table } from '../../shared/table.tsx'
import { Time } from '../../shared/time.tsx'
import { hrefTo, Link } from '../route.tsx'
import { useDashboardWords } from '../words.ts'

const LOOK = {
  pending: { tone: 'wait', icon: 'clock' },
  delivered: { tone: 'ok', icon: 'tick' },
  failed: { tone: 'no', icon: 'cross' },
  cancelled: { tone: 'neutral', icon: 'dash' },
} as const

/** Enough to know one by. */
const SHORT_CHARS = 11

export function DeliveryTable({ rows, chosen }: { rows: readonly ListedDelivery[]; chosen?: string }) {
  const words = useDashboardWords().webhooks
  return (
    <div class="opens">
      <Table
        caption={words.caption}
        columns={[
          {
            title: words.event,
            kind: 'wraps',
            cell: row => (
              <Link class="row-button" href={hrefTo(`webhooks/${row.id}`)}>
                {row.type}
                <span class="whose">
                  {row.receiver} <code>{row.verification_id.slice(0, SHORT_CHARS)}…</code>
                </span>
                <span class="below">
                  <Time at={row.created_at} />
                </span>
              </Link>
            ),
          },
          { title: words.status, cell: row => <DeliveryBadge status={row.status} /> },
          {
            title: <span class="extra">{words.attempts}</span>,
            kind: 'number',
            cell: row => <span class="extra">{row.attempts}</span>,
          },
          {
            title: <span class="minor">{words.created}</span>,
            kind: 'number',
            cell: row => (
              <span class="minor">
                <Time at={row.created_at} />
              </span>
            ),
          },
        ]}
        rows={rows}
        keyOf={row => row.id}
        isChosen={row => row.id === chosen}
      />
    </div>
  )
}

export function DeliveryBadge({ status }: Pick<DeliverySummary, 'status'>) {
  return <Badge {...LOOK[status]}>{useDashboardWords().webhooks.statuses[status]}</Badge>
}
