import type { DeliverySummary, ListedDelivery } from '../../../../dashboard/developers/webhooks/schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Table } from '../../../kit/table.tsx'
import { Time } from '../../../shared/time.tsx'
import { hrefTo, Link } from '../../route.tsx'
import { useWebhooksWords } from './words.ts'

const LOOK = {
  pending: { tone: 'wait', icon: 'clock' },
  retrying: { tone: 'wait', icon: 'reload' },
  delivered: { tone: 'ok', icon: 'tick' },
  failed: { tone: 'no', icon: 'cross' },
  cancelled: { tone: 'neutral', icon: 'dash' },
} as const

/** Enough to recognise an id. */
const SHORT_CHARS = 11

export function DeliveryTable({ rows, chosen }: { rows: readonly ListedDelivery[]; chosen?: string }) {
  const words = useWebhooksWords()
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
              <span class="whose small">
                {row.receiver} <code>{row.verification_id.slice(0, SHORT_CHARS)}…</code>
              </span>
              {folded}
            </Link>
          ),
        },
        { title: words.status, cell: row => <DeliveryBadge delivery={row} /> },
        { title: words.attempts, kind: 'number', folds: 'tablet', cell: row => row.attempts },
        { title: words.created, kind: 'number', folds: 'phone', below: 'plain', cell: row => <Time at={row.created_at} /> },
      ]}
      rows={rows}
      keyOf={row => row.id}
      isChosen={row => row.id === chosen}
    />
  )
}

export function DeliveryBadge({ delivery }: { delivery: DeliverySummary }) {
  const state = isRetrying(delivery) ? 'retrying' : delivery.status
  return <Badge {...LOOK[state]}>{useWebhooksWords().statuses[state]}</Badge>
}

/** Something failed before; a delivery that was sent again counts from the start. */
function isRetrying({ status, last_attempt: last }: DeliverySummary): boolean {
  if (status !== 'pending' || !last || last.outcome === 'delivered') return false
  return last.outcome === 'under_way' || last.outcome === 'interrupted' ? last.attempt > 1 : true
}
