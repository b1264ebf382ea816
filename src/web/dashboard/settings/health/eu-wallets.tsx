import { useState } from 'preact/hooks'
import type { EuProfile } from '../../../../dashboard/settings/health/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { sayClause } from '../../../shared/clauses/say.ts'
import { useClauses } from '../../../shared/clauses/words.ts'
import { useAction } from '../../action.ts'
import { Problem } from '../../parts/problem.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { HealthItem, LOOK } from './item.tsx'
import { useHealthWords } from './words.ts'

type Clause = EuProfile['clauses'][number]

const ORDER = ['fail', 'unknown', 'pass', 'not_applicable'] as const

const lookOf = ({ status, level }: Clause) => {
  if (status === 'fail') return level === 'must' ? LOOK.problem : LOOK.warning
  return status === 'pass' ? LOOK.ok : LOOK.not_set_up
}

/** The clauses of `vidimus doctor --profile eu`, for the shop in the address. */
export function EuWallets() {
  const { eu } = useHealthWords()
  const words = useClauses()
  const { call } = useSession()
  const { tenant, inTenant } = usePlace()
  const [clauses, setClauses] = useState<readonly Clause[]>([])
  const look = useAction(async () => {
    const { clauses } = await call<EuProfile>(inTenant('eu-profile'))
    setClauses(ORDER.flatMap(status => clauses.filter(clause => clause.status === status)))
  })
  return (
    <Card title={eu.title}>
      <p class="secondary">{eu.more(tenant.name)}</p>
      <Problem of={look.problem} />
      <div>
        <Button busy={look.isBusy} onClick={() => look.run()}>
          {eu.check}
        </Button>
      </div>
      <ul class="health" aria-label={eu.title}>
        {clauses.map(clause => (
          <HealthItem
            key={`${clause.id} ${clause.subject}`}
            look={lookOf(clause)}
            status={eu.statuses[clause.status]}
            title={`${clause.id} (${eu.levels[clause.level]})`}
            {...sayClause(words, clause)}
          />
        ))}
      </ul>
    </Card>
  )
}
