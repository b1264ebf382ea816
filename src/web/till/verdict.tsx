import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../shared/button.tsx'
import { useRegion } from '../shared/language.tsx'
import { useOutcome } from '../shared/outcome.ts'
import { Seal, type SealState } from '../shared/seal.tsx'
import { changeCheck, endCheck, startCheck } from './check.ts'
import { Facts } from './facts.tsx'
import { useHeadline } from './headline.ts'
import { type Check, read } from './memory.ts'
import { play } from './sound.ts'
import { useKeys } from './use-keys.ts'
import { type TillTemplate, useVerdict, type Verdict } from './use-verdict.ts'
import { Waiting } from './waiting.tsx'
import { useTillWords } from './words.ts'

const SHOWN_SECONDS = 20
const CLOCK = { timeStyle: 'short', hourCycle: 'h23' } as const

type Props = { check: Check; title: string; template: TillTemplate | undefined }

/** Green or red, once the whole result is loaded. */
export function VerdictOf({ check, title, template }: Props) {
  const words = useTillWords()
  const verdict = useVerdict(check, template)
  const ageOver = template?.age_over
  if (!verdict) return <Waiting check={check} title={title} line={words.loading} />
  return verdict.isYes ? (
    <Yes check={check} verdict={verdict} sentence={ageOver === undefined ? words.proven(title) : words.ageProven(ageOver)} />
  ) : (
    <No check={check} verdict={verdict} />
  )
}

function Yes({ check, verdict, sentence }: { check: Check; verdict: Verdict; sentence: string }) {
  const words = useTillWords()
  const { picture, claims } = verdict
  return (
    <End
      check={check}
      tone="ok"
      seal="verified"
      word={words.yes}
      sentence={sentence}
      sound="yes"
      more={<Origin verdict={verdict} />}
    >
      {(picture !== undefined || claims.length > 0) && (
        <div class="details">
          {picture !== undefined && (
            <figure class="portrait">
              <img src={picture} alt={words.photo} />
              <figcaption>{words.compare}</figcaption>
            </figure>
          )}
          {claims.length > 0 && <Facts claims={claims} />}
        </div>
      )}
    </End>
  )
}

/** The time of the check and the issuer. */
function Origin({ verdict: { at, issuer } }: { verdict: Verdict }) {
  const words = useTillWords()
  const region = useRegion()
  const time = at === undefined ? '' : new Intl.DateTimeFormat(region, CLOCK).format(Date.parse(at))
  const name = [issuer?.name, issuer?.country && `(${issuer.country})`].filter(Boolean).join(' ')
  return <p class="secondary">{[time && words.checkedAt(time), name && words.issuedBy(name)].filter(Boolean).join(' · ')}</p>
}

function No({ check, verdict: { code = '' } }: { check: Check; verdict: Verdict }) {
  const words = useTillWords()
  const { sentence } = useOutcome(code)
  return (
    <End
      check={check}
      tone="no"
      seal="refused"
      word={words.no}
      sentence={sentence}
      sound="no"
      mayRepeat
      more={
        <>
          {words.advice[code] && <p class="advice">{words.advice[code]}</p>}
          <code class="hint">{code}</code>
        </>
      }
    />
  )
}

/** Nobody answered: neither a yes nor a no. */
export function TimeUp({ check }: { check: Check }) {
  const words = useTillWords()
  return <End check={check} tone="wait" seal="expired" word={words.timeUp} sentence={words.nobody} mayRepeat />
}

/** Cancelled with a key or on the dashboard: neither a yes nor a no. */
export function StoppedElsewhere({ check }: { check: Check }) {
  const words = useTillWords()
  return <End check={check} tone="wait" seal="expired" word={words.stopped} sentence={words.stoppedElsewhere} mayRepeat />
}

type EndProps = {
  check: Check
  tone: 'ok' | 'no' | 'wait'
  seal: SealState
  word: string
  sentence: string
  sound?: 'yes' | 'no'
  mayRepeat?: true
  /** Beneath the sentence. */
  more?: ComponentChildren
  children?: ComponentChildren
}

/** Fills the screen until dismissed; hidden after a while, but can be shown again. */
function End({ check, tone, seal, word, sentence, sound, mayRepeat, more, children }: EndProps) {
  const words = useTillWords()
  const next = useRef<HTMLButtonElement>(null)
  const leftSeconds = useSecondsSeen()
  const isSeen = () => endCheck(check)
  const repeat = () => startCheck(check.template)
  useHeadline(`${word}. ${sentence}`)
  useKeys({ Enter: isSeen, Escape: isSeen })
  useEffect(() => {
    if (sound && read('hasSound')) play(sound)
    next.current?.focus()
  }, [])
  useEffect(() => {
    if (leftSeconds === 0) changeCheck(check, { isPutAway: true })
  }, [leftSeconds])
  return (
    <main class={`verdict ${tone}`}>
      <div class="told">
        <Seal state={seal} size={168} />
        <div class="stack tight">
          <h1>{word}</h1>
          <p class="sentence">{sentence}</p>
          {check.isAnsweredFirst && <p class="advice">{words.answeredFirst}</p>}
          {more}
        </div>
      </div>
      {children}
      <div class="foot">
        <div class="acts">
          <Button kind="primary" large ref={next} onClick={isSeen}>
            {words.next}
          </Button>
          {mayRepeat && (
            <Button large onClick={repeat}>
              {words.again}
            </Button>
          )}
        </div>
        <p class="closing">
          <Seal state="waiting" size={18} left={leftSeconds / SHOWN_SECONDS} />
          {words.seconds(leftSeconds)}
        </p>
      </div>
    </main>
  )
}

/** Counts down while the page is visible. */
function useSecondsSeen(): number {
  const [left, setLeft] = useState(SHOWN_SECONDS)
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setLeft(before => Math.max(0, before - 1))
    }, 1000)
    return () => clearInterval(timer)
  }, [])
  return left
}
