import type { VerificationSummary } from '../../../dashboard/verification-schema.ts'
import { StatusBadge } from '../../shared/badge.tsx'
import { useOutcome } from '../../shared/outcome.ts'
import { Table } from '../../shared/table.tsx'
import { Time } from '../../shared/time.tsx'
import { useFormat } from '../format.ts'
import { hrefTo, Link, useRoute } from '../route.tsx'
import { type TemplatesData, useTemplateTitle } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'

type Props = { rows: readonly VerificationSummary[]; templates: TemplatesData; chosen?: string }

export function VerificationTable({ rows, templates, chosen }: Props) {
  const words = useDashboardWords().verifications
  const title = useTemplateTitle(templates)
  const { duration } = useFormat()
  const { view, search } = useRoute()
  const filter: Record<string, string | null> =
    view === 'verifications' ? { status: search.get('status'), template: search.get('template') } : {}
  return (
    <div class="opens">
      <Table
        caption={words.caption}
        columns={[
          {
            title: <span class="first">{words.asked}</span>,
            cell: row => (
              <Link class="row-button first" href={hrefTo(`verifications/${row.id}`, filter)}>
                {title(row.template)}
                <span class="below">
                  <Time at={row.created_at} />
                </span>
              </Link>
            ),
          },
          { title: words.status, cell: row => <StatusBadge status={row.status} /> },
          {
            title: <span class="extra">{words.reason}</span>,
            kind: 'grows',
            cell: row => <span class="extra">{row.error && <Reason code={row.error.code} />}</span>,
          },
          {
            title: <span class="extra">{words.answered}</span>,
            kind: 'number',
            cell: row => (
              <span class="extra">{row.responded_at && duration(Date.parse(row.responded_at) - Date.parse(row.created_at))}</span>
            ),
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

function Reason({ code }: { code: string }) {
  return <span class="secondary">{useOutcome(code).sentence}</span>
}
