import { useEffect, useState } from 'preact/hooks'
import type { Health } from '../../../../dashboard/settings/health/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Seal } from '../../../kit/seal.tsx'
import { serviceUrl } from '../../../shared/base.ts'
import { say } from '../../../shared/findings/say.ts'
import { useFindings } from '../../../shared/findings/words.ts'
import { Time } from '../../../shared/time.tsx'
import { useAction } from '../../action.ts'
import { useFormat } from '../../format.ts'
import { Problem } from '../../parts/problem.tsx'
import { useSession } from '../../session.tsx'
import { SettingsPage } from '../settings-page.tsx'
import { EuWallets } from './eu-wallets.tsx'
import { HealthItem, LOOK } from './item.tsx'
import { useHealthWords } from './words.ts'

type Check = Health['checks'][number]

const WORST_FIRST = Object.keys(LOOK) as (keyof typeof LOOK)[]

/** The checks of `vidimus doctor`, run when the view opens and on request. */
export function HealthSettings() {
  const words = useHealthWords()
  const { call } = useSession()
  const [health, setHealth] = useState<Health>()
  const look = useAction(async () => setHealth(await call<Health>('health', { method: 'POST' })))
  useEffect(() => look.run(), [])
  return (
    <SettingsPage title={words.title} intro={words.more}>
      <Card>
        <div class="line middle" role="status">
          <Seal state={look.isBusy ? 'busy' : sealOf(health)} size={40} />
          <div>
            <h2 class="large">
              {look.isBusy || !health
                ? words.looking
                : words.found(countOf(health, 'problem'), countOf(health, 'warning'), countOf(health, 'not_set_up'))}
            </h2>
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
      <EuWallets />
    </SettingsPage>
  )
}

const countOf = ({ checks }: Health, status: Check['status']): number => checks.filter(check => check.status === status).length

const sealOf = (health: Health | undefined) => {
  if (!health) return 'open'
  if (countOf(health, 'problem') > 0) return 'refused'
  if (countOf(health, 'warning') > 0) return 'open'
  return countOf(health, 'not_set_up') > 0 ? 'answered' : 'verified'
}

function Checks({ checks }: { checks: readonly Check[] }) {
  const words = useHealthWords()
  const of = (wanted: readonly Check['status'][]) => wanted.flatMap(status => checks.filter(check => check.status === status))
  const fine = of(['ok'])
  return (
    <>
      <CheckList label={words.title} checks={of(WORST_FIRST.filter(status => status !== 'ok'))} />
      <details class="folded">
        <summary>{words.fine(fine.length)}</summary>
        <CheckList label={words.statuses.ok} checks={fine} />
      </details>
    </>
  )
}

const CheckList = ({ label, checks }: { label: string; checks: readonly Check[] }) => (
  <ul class="health" aria-label={label}>
    {checks.map(check => (
      <CheckItem key={check.name} check={check} />
    ))}
  </ul>
)

function CheckItem({ check: { name, status, ...finding } }: { check: Check }) {
  const words = useHealthWords()
  const { dated } = useFormat()
  const { detail, remedy } = say(useFindings(), finding)
  return (
    <HealthItem
      look={LOOK[status]}
      status={words.statuses[status]}
      title={words.names[name]}
      detail={dated(detail)}
      remedy={remedy}
    >
      {status !== 'ok' && (
        <p class="hint">
          <a href={serviceUrl(`docs/doctor#${name}`)} aria-label={`${words.help}: ${words.names[name]}`}>
            {words.help}
          </a>
        </p>
      )}
    </HealthItem>
  )
}
