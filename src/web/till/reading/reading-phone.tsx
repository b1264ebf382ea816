import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { HostedVerification } from '../../../verifications/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Field } from '../../kit/field.tsx'
import { Notice } from '../../kit/notice.tsx'
import { Scanner } from '../../kit/scan.tsx'
import { Seal } from '../../kit/seal.tsx'
import { inLanguage, useLanguage } from '../../shared/language.ts'
import { Stop } from '../check/stop.tsx'
import { useConnection } from '../connection.ts'
import { Heading } from '../heading.tsx'
import type { Check } from '../memory.ts'
import { useTillWords } from '../words.ts'
import type { Reading } from './reading.ts'
import type { PhoneReader } from './use-reading.ts'
import { useReadingWords } from './words.ts'

type Props = { reader: PhoneReader; check: Check; asked: HostedVerification }

/** From the code on the phone to its answer. */
export function ReadingPhone({ reader, check, asked }: Props) {
  const tillWords = useTillWords()
  const words = useReadingWords()
  const language = useLanguage()
  const isReached = useConnection() === 'reached'
  const { reading } = reader
  const acts = (
    <div class="row">
      {reading.step !== 'sending' && (
        <Button kind="quiet" large onClick={reader.leave}>
          {words.otherWays}
        </Button>
      )}
      <Stop check={check} isAsked />
    </div>
  )
  switch (reading.step) {
    case 'off':
      return null
    case 'scanning':
      return <Scanning reading={reading} onText={reader.scan} onSeen={reader.see} acts={acts} />
    case 'pairing':
      return (
        <main class="hold">
          <Heading text={words.pair} />
          {reading.obstacle ? (
            <Notice tone="wait" alert>
              {words.obstacles[reading.obstacle]}
            </Notice>
          ) : (
            <p class="secondary">{words.pairMore}</p>
          )}
          <Button kind="primary" large onClick={() => reader.connect(reading.target)}>
            {words.connect}
          </Button>
          {acts}
        </main>
      )
    case 'preparing':
      return <Busy text={words.preparing} acts={acts} />
    case 'connecting':
      return <Busy text={words.connecting} more={words.connectingMore} acts={acts} />
    case 'waiting':
      return (
        <Busy text={tillWords.scanned} more={words.waitingMore} acts={acts}>
          {asked.purpose && <p class="breaks">{inLanguage(asked.purpose, language)}</p>}
        </Busy>
      )
    case 'sending':
      return (
        <Busy text={words.sending} acts={acts}>
          {!isReached && (
            <Notice tone="wait" alert>
              {words.away}
            </Notice>
          )}
        </Busy>
      )
  }
}

type ScanningProps = {
  reading: Extract<Reading, { step: 'scanning' }>
  onText: (text: string) => void
  /** By the camera, which sees a code many times. */
  onSeen: (text: string) => void
  acts: ComponentChildren
}

/** By camera, or by a hand scanner, which types. */
function Scanning({ reading: { problem }, onText, onSeen, acts }: ScanningProps) {
  const words = useReadingWords()
  const [typed, setTyped] = useState('')
  const form = useRef<HTMLFormElement>(null)
  // Runs before the heading checks whether anything has the focus.
  useLayoutEffect(() => form.current?.querySelector('input')?.focus({ preventScroll: true }), [])
  return (
    <main class="asking scanning">
      <div class="code">
        <Scanner isSteady onText={onSeen} />
      </div>
      <div class="beside stack">
        <div class="stack tight">
          <Heading text={words.scan} problem={problem && words.problems[problem]} />
          {problem ? <Notice tone="wait">{words.problems[problem]}</Notice> : <p class="secondary">{words.scanMore}</p>}
        </div>
        <form
          ref={form}
          onSubmit={event => {
            event.preventDefault()
            setTyped('')
            if (typed.trim()) onText(typed)
          }}
        >
          {/* Without the keyboard of the screen, which would cover the camera. */}
          <Field
            label={words.field}
            hint={words.fieldHint}
            value={typed}
            onText={setTyped}
            autocomplete="off"
            spellcheck={false}
            inputMode="none"
          />
        </form>
        {acts}
      </div>
    </main>
  )
}

type BusyProps = { text: string; more?: string; acts: ComponentChildren; children?: ComponentChildren }

function Busy({ text, more, acts, children }: BusyProps) {
  return (
    <main class="hold">
      <Seal state="busy" size={120} />
      <Heading text={text} />
      {more && <p class="secondary">{more}</p>}
      {children}
      {acts}
    </main>
  )
}
