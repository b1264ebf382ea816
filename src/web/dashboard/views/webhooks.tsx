import { useState } from 'preact/hooks'
import type { DeliverySummary } from '../../../dashboard/verification-schema.ts'
import type { ListedDelivery, ReplayedDeliveries } from '../../../dashboard/webhook-schema.ts'
import { Button } from '../../shared/button.tsx'
import { Empty } from '../../shared/empty.tsx'
import { Icon } from '../../shared/icons.tsx'
import { Confirm } from '../confirm.tsx'
import { Failed, Loading } from '../loaded.tsx'
import { More } from '../more.tsx'
import { Page } from '../page.tsx'
import { type Pages, usePages } from '../pages.ts'
import { Split } from '../panel.tsx'
import { ButtonTo, goTo, hrefTo, useRoute } from '../route.tsx'
import { curlLine } from '../service-line.ts'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { DeliveryDetailPanel } from './delivery-detail.tsx'
import { DeliveryTable } from './delivery-table.tsx'
import { TryIt } from './try-it.tsx'
import { WebhookEndpointCard } from './webhook-endpoint.tsx'
import { WebhookSecretCard } from './webhook-secret.tsx'

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const

export function Webhooks({ id }: { id: string }) {
  const words = useDashboardWords().webhooks
  const { environment, inTenant } = usePlace()
  const { search } = useRoute()
  const status = search.get('status')
  const filter = new URLSearchParams({ environment, ...(status && { status }) })
  const pages = usePages<ListedDelivery>(inTenant(`deliveries?${filter}`))
  const follow = (seen: DeliverySummary) =>
    pages.change(rows => rows.map(row => (row.id === seen.id ? { ...row, ...seen } : row)))
  const isEmpty = pages.rows?.length === 0 && !status && !pages.hasMore
  return (
    <Page title={words.title} intro={words.intro} actions={!isEmpty && <TryIt webhook />}>
      <Split
        list={
          <>
            <WebhookEndpointCard key={`to ${environment}`} />
            <WebhookSecretCard key={environment} />
            <div class="section-header">
              <h2>{words.log}</h2>
              <div class="row">
                {pages.rows?.some(row => row.status === 'failed') && <ReplayFailed onDone={pages.reload} />}
                <StatusFilter status={status} />
              </div>
            </div>
            {isEmpty ? <NothingSent /> : <Log pages={pages} chosen={id} />}
          </>
        }
        panel={id && <DeliveryDetailPanel key={id} id={id} onSeen={follow} />}
      />
    </Page>
  )
}

function Log({ pages, chosen }: { pages: Pages<ListedDelivery>; chosen: string }) {
  const words = useDashboardWords().verifications
  const { rows, problem } = pages
  if (!rows) return problem === undefined ? <Loading /> : <Failed problem={problem} onRetry={pages.reload} />
  return (
    <>
      {rows.length > 0 ? (
        <DeliveryTable rows={rows} chosen={chosen} />
      ) : (
        <div class="nothing">
          <p class="secondary">{words.noMatch}</p>
          <Button onClick={() => goTo(hrefTo('webhooks'), { replace: true })}>{words.clear}</Button>
        </div>
      )}
      <More pages={pages} />
    </>
  )
}

function NothingSent() {
  const words = useDashboardWords().webhooks
  const { environment } = usePlace()
  const body = { template: 'age_over_18', webhook_url: 'https://shop.example/hooks' }
  return (
    <Empty
      title={words.emptyTitle}
      action={
        environment === 'test' ? (
          <TryIt webhook />
        ) : (
          <ButtonTo href={hrefTo('webhooks', { environment: 'test' })}>
            <Icon name="hook" />
            {words.tryInTest}
          </ButtonTo>
        )
      }
      curl={curlLine({ path: 'v1/verifications', key: `vk_${environment}_…`, body })}
    >
      {words.empty}
    </Empty>
  )
}

function StatusFilter({ status }: { status: string | null }) {
  const words = useDashboardWords().webhooks
  return (
    <div class="filters">
      <select
        aria-label={words.status}
        value={status ?? ''}
        onChange={event => goTo(hrefTo('webhooks', { status: event.currentTarget.value || null }), { replace: true })}
      >
        <option value="">{words.anyStatus}</option>
        {STATUSES.map(each => (
          <option key={each} value={each}>
            {words.statuses[each]}
          </option>
        ))}
      </select>
    </div>
  )
}

/** After a receiver was down: everything that it missed. */
function ReplayFailed({ onDone }: { onDone: () => void }) {
  const words = useDashboardWords().webhooks
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const [isAsking, setIsAsking] = useState(false)
  const replayAll = async () => {
    const path = inTenant(`deliveries/replay-failed?environment=${environment}`)
    let hasMore = true
    while (hasMore) hasMore = (await call<ReplayedDeliveries>(path, { method: 'POST' })).has_more
    setIsAsking(false)
    onDone()
  }
  return (
    <>
      <Button onClick={() => setIsAsking(true)}>
        <Icon name="reload" />
        {words.replayFailed}
      </Button>
      {isAsking && (
        <Confirm
          title={words.replayFailedTitle}
          verb={words.replayFailed}
          onClose={() => setIsAsking(false)}
          onConfirm={replayAll}
        >
          {words.replayFailedMore}
        </Confirm>
      )}
    </>
  )
}
