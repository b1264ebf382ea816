import { useEffect, useState } from 'preact/hooks'
import type { Health } from '../../../dashboard/settings-schema.ts'
import { Badge } from '../../shared/badge.tsx'
import { Button } from '../../shared/button.tsx'
import { Card } from '../../shared/card.tsx'
import { Seal } from '../../shared/seal.tsx'
import { Time } from '../../shared/time.tsx'
import { useAction } from '../action.ts'
import { Problem } from '../problem.tsx'
import { useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'

type Check = Health['checks'][number]

const LOOK = {
  problem: { tone: 'no', icon: 'cross' },
  warning: { tone: 'wait', icon: 'warning' },
  ok: { tone: 'ok', icon: 'tick' },
} as const

const WORST_FIRST = Object.keys(LOOK) as (keyof typeof LOOK)[]

/** The checks of `vidimus doctor`, run when the view opens and on request. */
export function HealthSettings() {
  const words = useDashboardWords().settings.health
  const { call } = useSession()
  const [health, setHealth] = useState<Health>()
  const look = useAction(async () => setHealth(await call<Health>('health', { method: 'POST' })))
  useEffect(() => look.run(), [])
  return (
    <Card title={words.title}>
      <p class="secondary">{words.more}</p>
      <div class="told" role="status">
        <Seal state={look.isBusy ? 'busy' : sealOf(health)} size={40} />
        <div>
          <p>
            <strong>
              {look.isBusy ? words.looking : health && words.found(countOf(health, 'problem'), countOf(health, 'warning'))}
            </strong>
          </p>
          {health && !look.isBusy && (
            <p class="hint">
              {words.checked} <Time at={health.checked_at} exact />
            </p>
          )}
        </div>
      </div>
      <Problem of={look.problem} />
      <div>
        <Button busy={look.isBusy} onClick={() => look.run()}>
          {words.again}
        </Button>
      </div>
      {health && <Checks checks={health.checks} />}
    </Card>
  )
}

const countOf = ({ checks }: Health, status: Check['status']): number => checks.filter(check => check.status === status).length

const sealOf = (health: Health | undefined) => {
  if (!health) return 'open'
  if (countOf(health, 'problem') > 0) return 'refused'
  return countOf(health, 'warning') > 0 ? 'open' : 'verified'
}

function Checks({ checks }: { checks: readonly Check[] }) {
  const words = useDashboardWords().settings.health
  const sorted = WORST_FIRST.flatMap(status => checks.filter(check => check.status === status))
  return (
    <ul class="health" aria-label={words.title}>
      {sorted.map(({ name, status, detail, remedy }) => (
        <li key={name}>
          <Badge {...LOOK[status]}>{words.statuses[status]}</Badge>
          <div class="stack tight">
            <h3>{words.names[name]}</h3>
            {/* In English, as `vidimus doctor` prints it. */}
            <p lang="en">{detail}</p>
            {remedy && (
              <p lang="en" class="remedy">
                {remedy}
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}
