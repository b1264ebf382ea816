import type { ComponentChildren } from 'preact'
import type { LoggedDelivery } from '../../../dashboard/developers/webhooks/schema.ts'
import type { Moment } from '../../../dashboard/verifications/schema.ts'
import { outcomeTone } from '../developers/webhooks/delivery-detail.tsx'
import { useWebhooksWords } from '../developers/webhooks/words.ts'
import { useFormat } from '../format.ts'
import { hrefTo, Link } from '../route.tsx'
import { useAuditWords } from '../settings/audit/words.ts'
import { CheckList } from './check-list.tsx'
import { useVerificationWords } from './words.ts'

type Attempt = LoggedDelivery['log'][number] & { event: 'webhook'; delivery: string }
type EventText = { sentence: ComponentChildren; tone: 'ok' | 'no' | 'wait' | 'neutral'; more?: ComponentChildren }

type Props = { moments: readonly Moment[]; deliveries: readonly LoggedDelivery[] /** Completed is a yes. */; isJudged: boolean }

/** The events of a session and its webhook attempts, with exact times and intervals. */
export function Timeline({ moments, deliveries, isJudged }: Props) {
  const words = useVerificationWords()
  const attempts = deliveries.flatMap(({ id, log }) => log.map(each => ({ ...each, event: 'webhook' as const, delivery: id })))
  // A stable sort keeps the order of simultaneous events.
  const all = [...moments, ...attempts].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  return (
    <section class="stack tight">
      <h3>{words.timeline}</h3>
      <ol class="timeline">
        {all.map((moment, i) => (
          <Happened key={i} moment={moment} before={all[i - 1]} isJudged={isJudged} />
        ))}
      </ol>
    </section>
  )
}

type HappenedProps = { moment: Moment | Attempt; before: Moment | Attempt | undefined; isJudged: boolean }

function Happened({ moment, before, isJudged }: HappenedProps) {
  const words = useVerificationWords()
  const { clock, date, duration } = useFormat()
  const { sentence, tone, more } = useTold(moment, isJudged)
  return (
    <li class={tone}>
      <p class="when row between small">
        <time dateTime={moment.at} title={moment.at}>
          {before ? clock(moment.at) : `${date(moment.at)}, ${clock(moment.at)}`}
        </time>
        {before && <span>{words.msLater(duration(Date.parse(moment.at) - Date.parse(before.at)))}</span>}
      </p>
      <p class="what breaks">{sentence}</p>
      {more}
    </li>
  )
}

function useTold(moment: Moment | Attempt, isJudged: boolean): EventText {
  const words = useVerificationWords().events
  const webhooks = useWebhooksWords()
  const actorName = useActorName()
  switch (moment.event) {
    case 'created':
      return { sentence: words.created(actorName(moment)), tone: 'neutral' }
    case 'qr_shown':
      return { sentence: words.qr_shown, tone: 'neutral' }
    case 'request_fetched':
      return { sentence: words.request_fetched, tone: 'neutral', more: <WalletSaid {...moment} /> }
    case 'response_unreadable':
      return { sentence: words.response_unreadable, tone: 'wait', more: <p class="hint">{moment.reason}</p> }
    case 'dc_requested':
      return { sentence: words.dc_requested(moment.origin), tone: 'neutral' }
    case 'dc_error':
      return { sentence: words.dc_error, tone: 'wait', more: <p class="hint">{moment.code}</p> }
    case 'in_person_requested':
      return { sentence: words.in_person_requested, tone: 'neutral' }
    case 'in_person_refused': {
      const offers = moment.offers.length > 0 && <p class="hint">{moment.offers.join(', ')}</p>
      return { sentence: words.in_person_refused[moment.reason], tone: 'wait', more: offers }
    }
    case 'in_person_error':
    case 'in_person_failed':
      return { sentence: words[moment.event], tone: 'wait', more: <p class="hint">{moment.code}</p> }
    case 'response_posted':
      return {
        ...answered(words, moment, isJudged),
        more: (
          <>
            {moment.channel && <p class="hint">{channelOf(words, moment)}</p>}
            {moment.credentials.map(each => (
              <CheckList key={each.credential} checked={each} error={moment.error} />
            ))}
          </>
        ),
      }
    case 'response_held':
      return { sentence: words.response_held[moment.awaits], tone: 'wait' }
    case 'redirect_not_followed':
    case 'not_compared':
      return { sentence: words[moment.event], tone: 'neutral' }
    case 'expired':
      return { sentence: words.expired, tone: 'wait' }
    case 'cancelled':
      return { sentence: words.cancelled(actorName(moment)), tone: 'neutral' }
    case 'redeemed':
      return { sentence: words.redeemed, tone: 'neutral' }
    case 'claims_read':
      return { sentence: words.claims_read(actorName(moment)), tone: 'neutral' }
    case 'login_started':
    case 'login_returned':
    case 'code_issued':
    case 'userinfo_read':
      return { sentence: words[moment.event], tone: 'neutral' }
    case 'login_refused':
      return { sentence: words.login_refused, tone: 'wait', more: <p class="hint">{moment.reason}</p> }
    case 'token_issued':
      return {
        sentence: words.token_issued,
        tone: 'ok',
        more: (
          <>
            <p class="hint">{moment.claims?.join(', ')}</p>
            {moment.left_out && moment.left_out.length > 0 && <p class="hint">{words.left_out(moment.left_out.join(', '))}</p>}
          </>
        ),
      }
    case 'photo_compared':
      return {
        sentence: words.photo_compared(actorName(moment), moment.same_person),
        tone: moment.same_person ? 'ok' : 'no',
      }
    case 'webhook':
      return {
        sentence: <Link href={hrefTo(`webhooks/${moment.delivery}`)}>{words.webhook(moment.attempt)}</Link>,
        tone: outcomeTone(moment.outcome),
        more: <p>{[webhooks.outcomes[moment.outcome], moment.http_status].filter(Boolean).join(' · ')}</p>,
      }
  }
}

type Fetched = Extract<Moment, { event: 'request_fetched' }>

/** The wallet's own words, where they made a difference. */
function WalletSaid({ formats = [], dropped = [], notes = [] }: Fetched) {
  const { formats: names, wallet_knows, wallet_lacks, wallet_notes } = useWalletWords()
  return (
    <>
      {dropped.length > 0 && <p class="hint">{wallet_knows(formats.map(format => names[format]).join(', '))}</p>}
      {notes.length > 0 && <p class="hint">{wallet_lacks(notes.map(note => wallet_notes[note]).join(', '))}</p>}
    </>
  )
}

function useWalletWords() {
  const { formats, events } = useVerificationWords()
  return { formats, ...events }
}

type Posted = Extract<Moment, { event: 'response_posted' }>

function answered(words: EventWords, { status, error }: Posted, isJudged: boolean): Pick<EventText, 'sentence' | 'tone'> {
  if (error === 'wallet_declined') return { sentence: words.response_declined, tone: 'neutral' }
  if (status === 'failed') return { sentence: words.response_failed, tone: 'no' }
  return isJudged ? { sentence: words.response_completed, tone: 'ok' } : { sentence: words.response_shared, tone: 'neutral' }
}

/** How the answer came, and what is special about it. */
const channelOf = (words: EventWords, { channel, proof, dropped }: Posted): string =>
  [channel && words.channels[channel], proof && words.byMac, dropped && words.dropped(dropped)].filter(Boolean).join(' ')

type EventWords = ReturnType<typeof useVerificationWords>['events']

/** `dashboard:alex` is alex, `command line:root` the system's user root; a key has its label, or its first characters. */
export function useActorName(): (by: { actor: string; actor_label?: string }) => string {
  const { actors, byCommand } = useAuditWords()
  return ({ actor, actor_label }) => {
    const [, user] = /^command line:(.+)$/.exec(actor) ?? []
    return user ? byCommand(user) : (actor_label ?? actors[actor] ?? actor.replace(/^dashboard:/, ''))
  }
}
