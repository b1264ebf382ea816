import type { Overview as OverviewData } from '../../../dashboard/verification-schema.ts'
import { Card } from '../../shared/card.tsx'
import { Icon } from '../../shared/icons.tsx'
import { Seal } from '../../shared/seal.tsx'
import { useData } from '../data.ts'
import { useFormat } from '../format.ts'
import { Loaded } from '../loaded.tsx'
import { Page } from '../page.tsx'
import { ButtonTo, hrefTo, Link } from '../route.tsx'
import { usePlace } from '../session.tsx'
import { useTemplates } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { AttentionList } from './attention.tsx'
import { TryIt } from './try-it.tsx'
import { UsageChart } from './usage-chart.tsx'
import { VerificationTable } from './verification-table.tsx'
import { VerificationsEmpty } from './verifications-empty.tsx'

export function Overview() {
  const words = useDashboardWords()
  const { environment, inTenant } = usePlace()
  const data = useData<OverviewData>(inTenant(`overview?environment=${environment}`))
  return (
    <Page title={words.overview.title} actions={<TryIt />}>
      <Loaded data={data}>
        {({ usage, recent, attention, is_live }) => (
          <>
            {!is_live && <ToGoLive />}
            <AttentionList attention={attention} />
            <div class="overview-usage">
              <Today usage={usage} />
              <Card title={words.overview.chart}>
                <UsageChart usage={usage} />
              </Card>
            </div>
            <Recent recent={recent} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function ToGoLive() {
  const words = useDashboardWords().overview
  return (
    <div class="to-go-live">
      <Icon name="shield" />
      <p>{words.goLive}</p>
      <ButtonTo href={hrefTo('go-live')}>{words.toGoLive}</ButtonTo>
    </div>
  )
}

function Today({ usage: { verifications_created, daily_quota, remaining } }: Pick<OverviewData, 'usage'>) {
  const words = useDashboardWords().overview
  const { number } = useFormat()
  return (
    <Card title={words.today}>
      <div class="today">
        <Seal
          state={remaining > 0 ? 'waiting' : 'expired'}
          size={96}
          left={daily_quota === 0 ? 1 : 1 - remaining / daily_quota}
        />
        <div>
          <p class="figure">{number(verifications_created)}</p>
          <p>{words.usedOf(number(verifications_created), number(daily_quota))}</p>
        </div>
      </div>
      <div>
        <p class="secondary">{remaining > 0 ? words.left(number(remaining)) : words.usedUp}</p>
        <p class="hint">{words.bothCount}</p>
      </div>
    </Card>
  )
}

function Recent({ recent }: Pick<OverviewData, 'recent'>) {
  const words = useDashboardWords().overview
  const templates = useTemplates()
  return (
    <section class="stack">
      <div class="section-header">
        <h2>{words.recent}</h2>
        {recent.length > 0 && <Link href={hrefTo('verifications')}>{words.all}</Link>}
      </div>
      {recent.length > 0 ? (
        <VerificationTable rows={recent} templates={templates} />
      ) : (
        <VerificationsEmpty title={words.emptyTitle}>{words.empty}</VerificationsEmpty>
      )}
    </section>
  )
}
