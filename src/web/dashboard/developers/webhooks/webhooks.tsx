import type { DeliverySummary, ListedDelivery, ReplayedDeliveries } from '../../../../dashboard/developers/webhooks/schema.ts'
import { Empty } from '../../../kit/empty.tsx'
import { Choice } from '../../../kit/field.tsx'
import { usePages } from '../../pages.ts'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Listed, NoMatch } from '../../parts/listed.tsx'
import { Page } from '../../parts/page.tsx'
import { Split } from '../../parts/panel.tsx'
import { curlLine } from '../../parts/service-line.ts'
import { goTo, hrefTo, useRoute } from '../../route.tsx'
import { useMayChange, usePlace, useSession } from '../../session.tsx'
import { DeliveryDetailPanel } from './delivery-detail.tsx'
import { DeliveryTable } from './delivery-table.tsx'
import { WebhookEndpointCard } from './endpoint.tsx'
import { WebhookSecretCard } from './secret.tsx'
import { useWebhooksWords } from './words.ts'

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const

export function Webhooks({ id }: { id: string }) {
  const words = useWebhooksWords()
  const { environment, inTenant } = usePlace()
  const { search } = useRoute()
  const mayChange = useMayChange()
  const status = search.get('status')
  const filter = new URLSearchParams({ environment, ...(status && { status }) })
  const pages = usePages<ListedDelivery>(inTenant(`deliveries?${filter}`))
  const follow = (seen: DeliverySummary) =>
    pages.change(rows => rows.map(row => (row.id === seen.id ? { ...row, ...seen } : row)))
  const isEmpty = pages.rows?.length === 0 && !status && !pages.hasMore
  return (
    <Page title={words.title} intro={words.intro}>
      <Split
        list={
          <>
            <WebhookEndpointCard key={`to ${environment}`} />
            <WebhookSecretCard key={environment} />
            <div class="section-header row between">
              <h2>{words.log}</h2>
              <div class="row">
                {mayChange && pages.rows?.some(row => row.status === 'failed') && <ReplayFailed onDone={pages.reload} />}
                <StatusFilter status={status} />
              </div>
            </div>
            {isEmpty ? (
              <NothingSent />
            ) : (
              <Listed pages={pages}>
                {rows => (rows.length > 0 ? <DeliveryTable rows={rows} chosen={id} /> : <NoMatch view="webhooks" />)}
              </Listed>
            )}
          </>
        }
        panel={id && <DeliveryDetailPanel key={id} id={id} onSeen={follow} />}
      />
    </Page>
  )
}

function NothingSent() {
  const words = useWebhooksWords()
  const { environment } = usePlace()
  const body = { template: 'age_over_18', webhook_url: 'https://shop.example/hooks' }
  return (
    <Empty title={words.emptyTitle} curl={curlLine({ path: 'v1/verifications', key: `vk_${environment}_…`, body })}>
      {words.empty}
    </Empty>
  )
}

function StatusFilter({ status }: { status: string | null }) {
  const words = useWebhooksWords()
  return (
    <div class="filters row tight">
      <Choice
        label={words.status}
        value={status ?? ''}
        options={[['', words.anyStatus], ...STATUSES.map(each => [each, words.filters[each]] as const)]}
        onChoose={chosen => goTo(hrefTo('webhooks', { status: chosen || null }), { replace: true })}
      />
    </div>
  )
}

/** Sends a receiver that was down everything that it missed. */
function ReplayFailed({ onDone }: { onDone: () => void }) {
  const words = useWebhooksWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const replayAll = async () => {
    const path = inTenant(`deliveries/replay-failed?environment=${environment}`)
    let hasMore = true
    while (hasMore) hasMore = (await call<ReplayedDeliveries>(path, { method: 'POST' })).has_more
    onDone()
  }
  return (
    <ConfirmButton icon="reload" title={words.replayFailedTitle} verb={words.replayFailed} onConfirm={replayAll}>
      {words.replayFailedMore}
    </ConfirmButton>
  )
}
