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

/** Enough to recognise an id. */
const SHORT_CHARS = 11

export function DeliveryTable({ rows, chosen }: { rows: readonly ListedDelivery[]; chosen?: string }) {
  const words = useDashboardWords().webhooks
  return (
    <Table
      caption={words.caption}
      columns={[
        {
          title: words.event,
          kind: 'wraps',
          cell: (row, folded) => (
            <Link class="row-button" href={hrefTo(`webhooks/${row.id}`)}>
              {row.type}
              <span class="whose">
                {row.receiver} <code>{row.verification_id.slice(0, SHORT_CHARS)}…</code>
              </span>
              {folded}
            </Link>
          ),
        },
        { title: words.status, cell: row => <DeliveryBadge status={row.status} /> },
        { title: words.attempts, kind: 'number', folds: 'tablet', cell: row => row.attempts },
        { title: words.created, kind: 'number', folds: 'phone', below: 'plain', cell: row => <Time at={row.created_at} /> },
      ]}
      rows={rows}
      keyOf={row => row.id}
      isChosen={row => row.id === chosen}
    />
  )
}

export function DeliveryBadge({ status }: Pick<DeliverySummary, 'status'>) {
  return <Badge {...LOOK[status]}>{useDashboardWords().webhooks.statuses[status]}</Badge>
}
