import { useEffect, useState } from 'preact/hooks'
import type { Comparison, Verification } from '../../../verifications/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Notice } from '../../kit/notice.tsx'
import { Seal } from '../../kit/seal.tsx'
import { ApiFailure } from '../../shared/api.ts'
import { useOutcomeNames } from '../../shared/outcome.ts'
import { minutes, useNow } from '../../shared/time.tsx'
import { persist, useConnection } from '../connection.ts'
import { Heading } from '../heading.tsx'
import type { Check } from '../memory.ts'
import { callTill } from '../tokens.ts'
import { useTillWords } from '../words.ts'
import { changeCheck, endCheck } from './check.ts'

/** "Not the same person" can be taken back for so long, because it cannot be afterwards. */
const UNDO_MS = 5000
/** It has this long to arrive, however late it was said. */
const DELIVERY_MS = 1000
const LIMIT_MS = 120_000

type Props = {
  check: Check
  title: string
  /** The server's clock minus this one. */
  aheadMs: number
  onDecided: (verification: Verification) => void
}

/** A good answer waits for the comparison of its photo: a face that nobody compared is no yes. */
export function Comparing({ check, title, aheadMs, onDecided }: Props) {
  const words = useTillWords()
  const comparison = useComparison(check)
  const now = useNow(1000)
  if (!comparison) return <Busy text={words.loading} title={title} />
  const until = Date.parse(comparison.until) - aheadMs
  const leftMs = leftOf(until, now)
  if (check.decision) return <Deciding check={check} title={title} until={until} onDecided={onDecided} />
  if (leftMs === 0) return <Busy text={words.overdue} title={title} />
  return <Compare check={check} title={title} picture={comparison.portrait} leftMs={leftMs} />
}

/** The tick may be older than the answer. */
const leftOf = (until: number, now: number): number => Math.min(LIMIT_MS, Math.max(0, until - now))

/** The photo and the end of its time. Never stored: a reload fetches it again. */
function useComparison({ id = '' }: Check): Comparison | undefined {
  const [comparison, setComparison] = useState<Comparison>()
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    // Refused: it has ended, or was erased; the page is about to be told.
    persist(() => callTill<Comparison>(pathOf(id), { signal }), signal).then(setComparison, () => {})
    return () => ended.abort()
  }, [id])
  return comparison
}

const pathOf = (id: string): string => `v1/verifications/${encodeURIComponent(id)}/comparison`

type CompareProps = { check: Check; title: string; picture: string; leftMs: number }

function Compare({ check, title, picture, leftMs }: CompareProps) {
  const words = useTillWords()
  const names = useOutcomeNames()
  const [isBroken, setIsBroken] = useState(!picture.startsWith('data:image/'))
  const decide = (isSame: boolean) => changeCheck(check, { decision: { isSame, at: Date.now() } })
  return (
    <main class="compare">
      {isBroken ? (
        <Notice tone="wait">{words.photoNotShown}</Notice>
      ) : (
        <img src={picture} alt={words.photo} onError={() => setIsBroken(true)} />
      )}
      <div class="beside stack">
        <div class="stack tight">
          <Heading text={words.compare} />
          <p class="secondary">
            {title} · {words.left(minutes(leftMs))}
          </p>
        </div>
        <Button large wide onClick={() => decide(true)}>
          {words.samePerson}
        </Button>
        <Button large wide onClick={() => decide(false)}>
          {names.not_same_person}
        </Button>
        <Button kind="plain" onClick={() => endCheck(check)}>
          {words.leaveUncompared}
        </Button>
      </div>
    </main>
  )
}

type DecidingProps = Omit<Props, 'aheadMs'> & {
  /** By this device's clock. */
  until: number
}

/** The decision is stored before it is sent: a reload and a lost response send it again. */
function Deciding({ check, title, until, onDecided }: DecidingProps) {
  const words = useTillWords()
  const names = useOutcomeNames()
  const now = useNow(200)
  const { isSame, at } = check.decision!
  const leftMs = leftOf(until, now)
  const undoMs = isSame ? 0 : Math.min(UNDO_MS, at + UNDO_MS - now, leftMs - DELIVERY_MS)
  const isSent = undoMs <= 0
  useEffect(() => {
    if (!isSent) return
    const ended = new AbortController()
    send(check, isSame, ended.signal).then(onDecided, (error: unknown) => {
      if (ended.signal.aborted) return
      // 409: it has ended, perhaps by this very decision; the page is about to be told.
      if (error instanceof ApiFailure && error.status === 404) endCheck(check)
    })
    return () => ended.abort()
  }, [isSent])
  if (isSent) return <Busy text={words.recording} title={title} leftMs={leftMs} />
  return (
    <main class="hold">
      <Seal state="waiting" size={120} left={undoMs / UNDO_MS} />
      <Heading text={names.not_same_person} />
      <p class="secondary">{words.recordedIn(Math.ceil(undoMs / 1000))}</p>
      <Button large onClick={() => changeCheck(check, { decision: undefined })}>
        {words.takeBack}
      </Button>
    </main>
  )
}

const send = ({ id = '' }: Check, isSame: boolean, signal: AbortSignal): Promise<Verification> =>
  persist(() => callTill<Verification>(pathOf(id), { method: 'POST', body: { same_person: isSame }, signal }), signal)

/** `leftMs`: the time in which a decision that is not delivered yet still counts. */
function Busy({ text, title, leftMs }: { text: string; title: string; leftMs?: number }) {
  const words = useTillWords()
  const isReached = useConnection() === 'reached'
  return (
    <main class="hold">
      <Seal state="busy" size={120} />
      <Heading text={text} />
      <p class="secondary">{title}</p>
      {!isReached && leftMs !== undefined && (
        <Notice tone="wait" alert>
          {leftMs > 0 ? words.undelivered(minutes(leftMs)) : words.undeliverable}
        </Notice>
      )}
    </main>
  )
}
