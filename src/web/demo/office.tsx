import type { DemoMoment, DemoSession } from '../../demo/schema.ts'
import { Badge, StatusBadge } from '../kit/badge.tsx'
import { Button } from '../kit/button.tsx'
import { Copy } from '../kit/copy.tsx'
import { Detail } from '../kit/detail.tsx'
import { Icon, type IconName } from '../kit/icons.tsx'
import { Notice } from '../kit/notice.tsx'
import { useCommon, useRegion } from '../shared/language.ts'
import { useCheck, useOutcome } from '../shared/outcome.ts'
import type { Erased, Story } from './story.ts'
import { useDemoWords } from './words.ts'

/** The merchant's view: the session with its checks, the webhook, and the erasure. */
export function Office({ story: { session, erased, erase, data } }: { story: Story }) {
  const words = useDemoWords()
  return (
    <div class="office-view stack">
      {session && <Session session={session} onErase={erase} />}
      {erased && <WasErased erased={erased} />}
      {!session && !erased && <p class="secondary">{words.nothingYet}</p>}
      {data && <Commands commands={data.commands} />}
    </div>
  )
}

function Session({ session, onErase }: { session: DemoSession; onErase: () => void }) {
  const words = useDemoWords()
  const { verification, is_judged, moments, checks, webhook } = session
  const { id, status, error, responded_at } = verification
  return (
    <>
      <div class="row">
        <StatusBadge status={status} code={error?.code} isHeld={responded_at !== undefined} isJudged={is_judged} />
        <code class="secondary">{id}</code>
      </div>
      {error && <Reason code={error.code} />}
      {webhook && <Webhook webhook={webhook} />}
      <Moments moments={moments} />
      {checks.length > 0 && (
        <ul class="checks grid" aria-label={words.checks}>
          {checks.map((each, i) => (
            <Checked key={i} {...each} />
          ))}
        </ul>
      )}
      {status !== 'pending' && (
        <Button kind="danger" onClick={onErase}>
          <Icon name="trash" />
          {words.steps.erase.press}
        </Button>
      )}
    </>
  )
}

function Reason({ code }: { code: string }) {
  const { sentence, meaning } = useOutcome(code)
  return (
    <Notice tone={code === 'wallet_declined' ? 'neutral' : 'no'}>
      <strong>{sentence}</strong> {meaning} <code>{code}</code>
    </Notice>
  )
}

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23' } as const

function Moments({ moments }: { moments: readonly DemoMoment[] }) {
  const words = useDemoWords()
  const clock = new Intl.DateTimeFormat(useRegion(), CLOCK)
  return (
    <ol class="moments grid" aria-label={words.timeline}>
      {moments.map(({ at, event }) => (
        <li key={`${at}${event}`} class="row">
          <time dateTime={at} title={at} class="mono secondary">
            {clock.format(Date.parse(at))}
          </time>
          {words.moments[event]}
        </li>
      ))}
    </ol>
  )
}

const MARKS: Readonly<Record<string, IconName>> = { pass: 'tick', fail: 'cross', warning: 'warning', skipped: 'dash' }

function Checked({ check, status, detail }: DemoSession['checks'][number]) {
  const { passed, failed } = useCheck(check)
  const words = useDemoWords()
  // A document of the sandbox is as it should be here.
  if (check === 'environment' && status === 'warning')
    return (
      <li class="line tight">
        <Icon name="info" size={18} />
        {words.sandboxIssuer}
      </li>
    )
  return (
    <li class={`line tight ${status}`}>
      <Icon name={MARKS[status] ?? 'dash'} size={18} />
      <span>
        <span class="only-heard">{words.marks[status]}</span> {status === 'fail' ? failed : passed}
        {status !== 'pass' && detail && (
          <span class="small">
            {' '}
            <Detail text={detail} />
          </span>
        )}
      </span>
    </li>
  )
}

function Webhook({ webhook: { headers, body } }: { webhook: NonNullable<DemoSession['webhook']> }) {
  const words = useDemoWords()
  return (
    <section class="stack tight" aria-label={words.webhook}>
      <h3>{words.webhook}</h3>
      <Badge tone="ok" icon="tick">
        {words.verified}
      </Badge>
      <p class="secondary">{words.how}</p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable. */}
      <pre class="raw" role="group" aria-label={words.webhook} tabIndex={0}>
        {Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}
        {'\n\n'}
        {JSON.stringify(JSON.parse(body), null, 2)}
      </pre>
    </section>
  )
}

function WasErased({ erased: { id, deleted, audit } }: { erased: Erased }) {
  const words = useDemoWords()
  const { verification_sessions, verification_results, webhook_deliveries } = deleted
  return (
    <>
      <Notice tone="neutral">
        {words.erased(verification_sessions, verification_results, webhook_deliveries)} <code>{id}</code>
      </Notice>
      <Notice tone={audit.ok ? 'ok' : 'no'}>
        {audit.ok ? words.chainHolds(audit.count) : words.chainBroken} <code class="secondary">{audit.head}</code>
      </Notice>
    </>
  )
}

function Commands({ commands }: { commands: readonly string[] }) {
  const words = useDemoWords()
  const common = useCommon()
  return (
    <details class="unfolds">
      <summary>
        <Icon name="next" size={16} />
        {words.curl}
      </summary>
      <div class="stack tight">
        {commands.map(command => (
          <Copy key={command} text={command} label={common.command} />
        ))}
      </div>
    </details>
  )
}
