import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Verification } from '../../../verifications/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Seal } from '../../kit/seal.tsx'
import { useRegion } from '../../shared/language.ts'
import { useOutcome, useOutcomeNames } from '../../shared/outcome.ts'
import { outcomeNameOf } from '../../shared/outcome-code.ts'
import { useNow } from '../../shared/time.tsx'
import { useHeadline } from '../headline.ts'
import { type Check, read } from '../memory.ts'
import { play } from '../sound.ts'
import { useKeys } from '../use-keys.ts'
import { useTillWords } from '../words.ts'
import { changeCheck, SHOWN_MS, startCheck } from './check.ts'
import { Facts } from './facts.tsx'
import { type TillTemplate, useVerdict, type Verdict } from './use-verdict.ts'
import { Waiting } from './waiting.tsx'

const CLOCK = { timeStyle: 'short', hourCycle: 'h23' } as const
const DAY = { dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' } as const

type Props = {
  check: Check
  title: string
  template: TillTemplate | undefined
  /** When this page was opened. */
  openedAt: number
  /** This page saw the session before it ended. */
  isFollowed: boolean
  /** The server's clock minus this one. */
  aheadMs: number
  /** The answer to the cashier's decision about the photo. */
  decided: Verification | undefined
}

/** Green or red, once the whole result is loaded. */
export function VerdictOf({ check, title, template, openedAt, isFollowed, aheadMs, decided }: Props) {
  const words = useTillWords()
  const verdict = useVerdict(check, template, decided)
  const endedAt = verdict?.at === undefined ? undefined : Date.parse(verdict.at) - aheadMs
  // A verdict that arrived while this till was closed: the customer may have left.
  const isMissed =
    !isFollowed &&
    !check.isRestored &&
    check.shownAt === undefined &&
    openedAt - (check.decision?.at ?? endedAt ?? openedAt) >= SHOWN_MS
  useEffect(() => {
    if (isMissed) changeCheck(check, { isPutAway: true })
  }, [isMissed])
  if (!verdict || isMissed) return <Waiting check={check} title={title} line={words.loading} />
  const { isYes, code } = verdict
  const shown = { check, endedAt, verdict }
  if (isYes) return <Yes {...shown} title={title} ageOver={template?.age_over} />
  if (code === 'wallet_declined') return <Declined {...shown} />
  return code === 'not_compared' ? <NotCompared {...shown} /> : <No {...shown} ageOver={template?.age_over} />
}

type Shown = { check: Check; endedAt: number | undefined; verdict: Verdict }

function Yes({ check, endedAt, verdict, title, ageOver }: Shown & { title: string; ageOver: number | undefined }) {
  const words = useTillWords()
  const { picture, claims } = verdict
  return (
    <End
      check={check}
      endedAt={endedAt}
      tone="ok"
      word={words.yes}
      sentence={ageOver === undefined ? words.proven(title) : words.ageProven(ageOver)}
      more={<Origin verdict={verdict} />}
    >
      {claims.length > 0 && (
        <div class="details stack centred">
          {picture && <img class="portrait" src={picture} alt={words.photo} />}
          <Facts claims={claims} />
        </div>
      )}
    </End>
  )
}

/** The time of the check and the issuer. */
function Origin({ verdict: { at, issuer, asOf } }: { verdict: Verdict }) {
  const words = useTillWords()
  const region = useRegion()
  const clock = (given: number) => new Intl.DateTimeFormat(region, CLOCK).format(given)
  const isOfToday = asOf !== undefined && new Date(asOf).toDateString() === new Date().toDateString()
  const listTime = asOf && (isOfToday ? clock(asOf) : new Intl.DateTimeFormat(region, DAY).format(asOf))
  const time = at === undefined ? '' : clock(Date.parse(at))
  const name = [issuer?.name, issuer?.country && `(${issuer.country})`].filter(Boolean).join(' ')
  const parts = [time && words.checkedAt(time), listTime && words.checkedAgainst(listTime), name && words.issuedBy(name)]
  return <p class="secondary">{parts.filter(Boolean).join(' · ')}</p>
}

function No({ check, endedAt, verdict: { code = '' }, ageOver }: Shown & { ageOver: number | undefined }) {
  const words = useTillWords()
  const outcome = useOutcome(code)
  const names = useOutcomeNames()
  const name = outcomeNameOf({ status: 'failed', code })
  const isAge = code === 'claim_not_satisfied' && ageOver !== undefined
  return (
    <End
      check={check}
      endedAt={endedAt}
      tone="no"
      word={name === 'failed' ? words.no : names[name]}
      sentence={isAge ? words.ageNotProven(ageOver) : outcome.sentence}
      more={
        <>
          {words.advice[code] && <p class="advice">{words.advice[code]}</p>}
          <code class="small">{code}</code>
        </>
      }
    />
  )
}

/** Nobody said whether the photo is of the customer: neither a yes nor a no. */
function NotCompared({ check, endedAt }: Shown) {
  const words = useTillWords()
  const names = useOutcomeNames()
  const { sentence } = useOutcome('not_compared')
  return (
    <End
      check={check}
      endedAt={endedAt}
      tone="wait"
      word={names.not_compared}
      sentence={sentence}
      more={<p class="advice">{words.advice.not_compared}</p>}
    />
  )
}

/** The customer decided: neither a no nor an error. */
function Declined({ check, endedAt }: Shown) {
  const words = useTillWords()
  const { sentence } = useOutcome('wallet_declined')
  return (
    <End
      check={check}
      endedAt={endedAt}
      tone="neutral"
      word={useOutcomeNames().wallet_declined}
      sentence={sentence}
      more={<p class="advice">{words.advice.wallet_declined}</p>}
    />
  )
}

/** Nobody answered: neither a yes nor a no. */
export function TimeUp({ check, endedAt }: { check: Check; endedAt: number }) {
  const words = useTillWords()
  return <End check={check} endedAt={endedAt} tone="wait" word={useOutcomeNames().expired} sentence={words.nobody} />
}

/** Cancelled with a key or on the dashboard: neither a yes nor a no. */
export function StoppedElsewhere({ check }: { check: Check }) {
  const words = useTillWords()
  return <End check={check} tone="wait" word={useOutcomeNames().cancelled} sentence={words.stoppedElsewhere} />
}

const TONES = {
  ok: { seal: 'verified', sound: 'yes' },
  no: { seal: 'refused', sound: 'no' },
  wait: { seal: 'expired', sound: undefined },
  neutral: { seal: 'open', sound: undefined },
} as const

type EndProps = {
  check: Check
  /** Time of this device's clock. */
  endedAt?: number | undefined
  tone: keyof typeof TONES
  word: string
  sentence: string
  /** Beneath the sentence. */
  more?: ComponentChildren
  children?: ComponentChildren
}

/** Fills the screen until dismissed; hidden after a while, but can be shown again. */
function End({ check, endedAt, tone, word, sentence, more, children }: EndProps) {
  const words = useTillWords()
  const { seal, sound } = TONES[tone]
  const next = useRef<HTMLButtonElement>(null)
  const leftMs = useLeft(check)
  const isSeen = () => changeCheck(check, { isPutAway: true })
  const repeat = () => startCheck(check.template)
  useHeadline(`${word}. ${sentence}`)
  useKeys({ Enter: isSeen, Escape: isSeen })
  useEffect(() => {
    if (sound && !check.isRestored && read('hasSound')) play(sound)
    next.current?.focus()
  }, [])
  return (
    <main class={`verdict ${tone}`}>
      <div class="told stack centred">
        <Seal state={seal} size={168} />
        <div class="stack tight">
          {check.isRestored && endedAt !== undefined && <Age endedAt={endedAt} />}
          <h1>{word}</h1>
          <p class="sentence">{sentence}</p>
          {check.isAnsweredFirst && <p class="advice">{words.answeredFirst}</p>}
          {more}
        </div>
      </div>
      {children}
      <div class="foot stack tight centred">
        <div class="acts row">
          <Button kind="quiet" large ref={next} onClick={isSeen}>
            {words.next}
          </Button>
          {tone !== 'ok' && (
            <Button kind="quiet" large onClick={repeat}>
              {words.again}
            </Button>
          )}
        </div>
        <p class="closing line tight middle small">
          <Seal state="waiting" size={18} left={leftMs / SHOWN_MS} />
          {words.seconds(Math.ceil(leftMs / 1000))}
        </p>
      </div>
    </main>
  )
}

/** A verdict of earlier says so before anything else. */
function Age({ endedAt }: { endedAt: number }) {
  const words = useTillWords()
  const seconds = Math.max(0, Math.floor((useNow(1000) - endedAt) / 1000))
  const minutes = Math.floor(seconds / 60)
  const text =
    minutes < 1
      ? words.ago.seconds(seconds)
      : minutes < 60
        ? words.ago.minutes(minutes)
        : words.ago.hours(Math.floor(minutes / 60))
  return <p class="age">{text}</p>
}

/** The time that a verdict stays, from the moment when somebody could see it; then it is put away. */
function useLeft(check: Check): number {
  const now = useNow(1000)
  // The tick may be older than the moment when it was shown.
  const leftMs = Math.min(SHOWN_MS, Math.max(0, (check.shownAt ?? now) + SHOWN_MS - now))
  useEffect(() => {
    if (check.shownAt === undefined && document.visibilityState === 'visible') changeCheck(check, { shownAt: Date.now() })
    if (leftMs === 0) changeCheck(check, { isPutAway: true })
  }, [now, leftMs === 0])
  return leftMs
}
