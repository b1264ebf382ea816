import type { VerificationSummary } from '../../../dashboard/verifications/schema.ts'
import { StatusBadge } from '../../kit/badge.tsx'
import { Table } from '../../kit/table.tsx'
import { useOutcome } from '../../shared/outcome.ts'
import { Time } from '../../shared/time.tsx'
import { useFormat } from '../format.ts'
import { hrefTo, Link, useRoute } from '../route.tsx'
import { type TemplatesData, useTemplateTitle } from '../template-names.ts'
import { filterOf } from './filters.tsx'
import { useVerificationsWords } from './words.ts'

type Props = { rows: readonly VerificationSummary[]; templates: TemplatesData; chosen?: string }

export function VerificationTable({ rows, templates, chosen }: Props) {
  const words = useVerificationsWords()
  const title = useTemplateTitle(templates)
  const { duration } = useFormat()
  const { view, search } = useRoute()
  const filter = view === 'verifications' ? filterOf({ search }) : {}
  return (
    <Table
      caption={words.caption}
      columns={[
        {
          title: words.asked,
          cell: (row, folded) => (
            <Link class="row-button" href={hrefTo(`verifications/${row.id}`, filter)}>
              {title(row.template)}
              {folded}
            </Link>
          ),
        },
        {
          title: words.status,
          cell: row => (
            <StatusBadge
              status={row.status}
              code={row.error?.code}
              isHeld={row.responded_at !== undefined}
              isJudged={row.is_judged}
            />
          ),
        },
        {
          title: words.reference,
          folds: 'phone',
          below: 'plain',
          cell: row => <span class="cut clipped">{Object.values(row.metadata ?? {})[0]}</span>,
        },
        {
          title: words.device,
          folds: 'tablet',
          below: 'plain',
          cell: row => <span class="cut clipped">{row.device?.name}</span>,
        },
        { title: words.reason, kind: 'grows', folds: 'tablet', cell: row => row.error && <Reason code={row.error.code} /> },
        {
          title: words.answered,
          kind: 'number',
          folds: 'tablet',
          cell: row => row.responded_at && duration(Date.parse(row.responded_at) - Date.parse(row.created_at)),
        },
        { title: words.created, kind: 'number', folds: 'phone', below: 'plain', cell: row => <Time at={row.created_at} /> },
      ]}
      rows={rows}
      keyOf={row => row.id}
      isChosen={row => row.id === chosen}
    />
  )
}

function Reason({ code }: { code: string }) {
  const { sentence } = useOutcome(code)
  return <span class="secondary whole">{sentence}</span>
}
