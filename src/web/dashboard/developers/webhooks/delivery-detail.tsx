import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type {
  DeliveryAttempt,
  DeliveryDetail,
  DeliverySummary,
  SentMessage,
} from '../../../../dashboard/developers/webhooks/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Icon } from '../../../kit/icons.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { useNow } from '../../../shared/time.tsx'
import { useAction } from '../../action.ts'
import { useData, useEvery } from '../../data.ts'
import { useFormat } from '../../format.ts'
import { Facts } from '../../parts/facts.tsx'
import { Raw } from '../../parts/json.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { hrefTo, Link, useRoute } from '../../route.tsx'
import { ForEditors, useMaySeeClaims, usePlace, useSession } from '../../session.tsx'
import { useVerificationWords } from '../../verifications/words.ts'
import { DeliveryBadge } from './delivery-table.tsx'
import { useWebhooksWords } from './words.ts'

const LOOK_MS = 3000
const NEAR_MS = 60_000

/** A delivery with its event, and each attempt with its answer. */
export function DeliveryDetailPanel({ id, onSeen }: { id: string; onSeen: (delivery: DeliverySummary) => void }) {
  const words = useWebhooksWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const { search } = useRoute()
  const path = inTenant(`deliveries/${encodeURIComponent(id)}`)
  const data = useData<DeliveryDetail>(`${path}?environment=${environment}`)
  const [isReplayed, setIsReplayed] = useState(false)
  const replay = useAction(async () => {
    await call(`${path}/replay?environment=${environment}`, { method: 'POST' })
    setIsReplayed(true)
    data.reload()
  })
  const delivery = data.value?.delivery
  useEffect(() => {
    if (delivery) onSeen(delivery)
  }, [delivery])
  useEvery(LOOK_MS, useIsNear(delivery), data.reload)
  return (
    <Panel title={delivery?.type ?? words.event} backTo={hrefTo('webhooks', { status: search.get('status') })}>
      <Loaded data={data}>
        {({ delivery, url, attempts, message }) => (
          <>
            <About delivery={delivery} url={url} />
            <Problem of={replay.problem} />
            {isReplayed && delivery.status === 'pending' && <Notice tone="ok">{words.replayed}</Notice>}
            <Message message={message}>
              <ForEditors>
                <Button busy={replay.isBusy} onClick={() => replay.run()}>
                  <Icon name="reload" />
                  {words.replay}
                </Button>
              </ForEditors>
            </Message>
            <section class="stack tight">
              <h3>{words.attempts}</h3>
              {attempts.length === 0 && <p class="secondary">{words.notSent}</p>}
              <ol class="timeline">
                {attempts.map((attempt, i) => (
                  <AttemptItem key={i} attempt={attempt} />
                ))}
              </ol>
            </section>
          </>
        )}
      </Loaded>
    </Panel>
  )
}

/** True shortly before the next attempt: polling for hours would extend an unused session. */
function useIsNear(delivery: DeliverySummary | undefined): boolean {
  const now = useNow()
  return delivery?.next_attempt_at !== undefined && Date.parse(delivery.next_attempt_at) - now < NEAR_MS
}

function About({ delivery, url }: { delivery: DeliverySummary; url: string | null }) {
  const words = useWebhooksWords()
  const { time } = useFormat()
  const { verification_id, next_attempt_at, created_at, request_id } = delivery
  return (
    <>
      <div>
        <DeliveryBadge delivery={delivery} />{' '}
        {next_attempt_at && <span class="secondary">{words.next(time(next_attempt_at))}</span>}
      </div>
      <Facts
        facts={[
          [words.to, url === null ? words.endpointGone : <code key="url">{url}</code>],
          [
            words.verification,
            <Link key="verification" href={hrefTo(`verifications/${verification_id}`)}>
              <code>{verification_id}</code>
            </Link>,
          ],
          [words.created, time(created_at)],
          [words.request, request_id && <code key="request">{request_id}</code>],
        ]}
      />
    </>
  )
}

function AttemptItem({ attempt }: { attempt: DeliveryAttempt }) {
  const words = useWebhooksWords()
  const { clock, date, duration } = useFormat()
  const { at, outcome, http_status, duration_ms, address, answer, detail } = attempt
  const isOver = outcome !== 'under_way'
  const said = [
    words.outcomes[outcome],
    http_status !== null && words.answered(http_status),
    isOver && words.took(duration(duration_ms)),
  ]
  return (
    <li class={outcomeTone(outcome)}>
      <p class="when row between small">
        <time dateTime={at} title={at}>
          {date(at)}, {clock(at)}
        </time>
        <span>{words.attempt(attempt.attempt)}</span>
      </p>
      <p class="what breaks">{said.filter(Boolean).join(' · ')}</p>
      {detail && <p class="hint">{detail}</p>}
      {address && (
        <p class="hint">
          {words.address}: <code>{address}</code>
        </p>
      )}
      {answer && (
        <details class="folded">
          <summary>{words.answer}</summary>
          <Raw label={words.answer} text={answer} />
        </details>
      )}
    </li>
  )
}

export function outcomeTone(outcome: DeliveryAttempt['outcome']): 'ok' | 'no' | 'wait' {
  if (outcome === 'delivered') return 'ok'
  return outcome === 'under_way' || outcome === 'interrupted' ? 'wait' : 'no'
}

/** The event: byte for byte with the headers of its latest attempt, or as it would be sent now. */
function Message({ message, children }: { message: SentMessage; children: ComponentChildren }) {
  const words = useWebhooksWords()
  const { attempt, body, headers, secret_gone, portrait_gone } = message
  const maySeeClaims = useMaySeeClaims()
  const { hidden } = useVerificationWords()
  const lines = Object.entries(headers).map(header => header.join(': '))
  return (
    <section class="stack tight">
      <div class="row between">
        <h3>{words.event}</h3>
        {children}
      </div>
      <p class="secondary">{attempt === null ? words.asNow : words.asSent(attempt)}</p>
      <Raw label={words.event} text={body} />
      {lines.length > 0 && (
        <details class="folded">
          <summary>{words.headers}</summary>
          <Raw label={words.headers} text={lines.join('\n')} />
        </details>
      )}
      {secret_gone && <Notice tone="wait">{words.secretGone}</Notice>}
      {portrait_gone && <Notice tone="wait">{words.portraitGone}</Notice>}
      <p class="hint">{maySeeClaims ? words.readNote : hidden}</p>
    </section>
  )
}
