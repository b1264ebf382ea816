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
import type { Problem } from './reading.ts'
import type { PhoneReader } from './use-reading.ts'
import { useReadingWords } from './words.ts'

type Props = { reader: PhoneReader; check: Check; asked: HostedVerification }

/** From the code on the phone to its answer. */
export function ReadingPhone({ reader, check, asked }: Props) {
  const words = useReadingWords()
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
      return <Scanning reader={reader} problem={reading.problem} acts={acts} />
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
    default:
      return <Busy step={reading.step} asked={asked} acts={acts} />
  }
}

type BusyProps = { step: 'preparing' | 'connecting' | 'waiting' | 'sending'; asked: HostedVerification; acts: ComponentChildren }

function Busy({ step, asked: { purpose }, acts }: BusyProps) {
  const { scanned } = useTillWords()
  const words = useReadingWords()
  const language = useLanguage()
  const isAway = useConnection() !== 'reached' && step === 'sending'
  const isWaiting = step === 'waiting'
  return (
    <main class="hold">
      <Seal state="busy" size={120} />
      <Heading text={isWaiting ? scanned : words[step]} />
      {step === 'connecting' && <p class="secondary">{words.connectingMore}</p>}
      {isWaiting && <p class="secondary">{words.waitingMore}</p>}
      {isWaiting && purpose && <p class="breaks">{inLanguage(purpose, language)}</p>}
      {isAway && (
        <Notice tone="wait" alert>
          {words.away}
        </Notice>
      )}
      {acts}
    </main>
  )
}

type ScanningProps = { reader: PhoneReader; problem: Problem | undefined; acts: ComponentChildren }

/** By camera, or by a hand scanner, which types. */
function Scanning({ reader, problem, acts }: ScanningProps) {
  const words = useReadingWords()
  const [typed, setTyped] = useState('')
  const form = useRef<HTMLFormElement>(null)
  // Runs before the heading checks whether anything has the focus.
  useLayoutEffect(() => form.current?.querySelector('input')?.focus({ preventScroll: true }), [])
  return (
    <main class="asking scanning">
      <div class="code">
        <Scanner isSteady onText={reader.see} />
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
            if (typed.trim()) reader.scan(typed)
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
