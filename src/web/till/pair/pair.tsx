import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Field } from '../../kit/field.tsx'
import { Notice } from '../../kit/notice.tsx'
import { Scanner } from '../../kit/scan.tsx'
import { Seal } from '../../kit/seal.tsx'
import { ApiFailure } from '../../shared/api.ts'
import { minutes } from '../../shared/time.tsx'
import { persist } from '../connection.ts'
import { Heading } from '../heading.tsx'
import { keep, type Pairing, read, useKept } from '../memory.ts'
import { newKey } from '../new-key.ts'
import { pair } from '../tokens.ts'
import { type TillWords, useTillWords } from '../words.ts'
import { isWhole, scannedCode } from './pairing-code.ts'

type Props = {
  /** The code in the link that opened the page. */
  code: string | undefined
  /** The name under which the till is paired already. */
  name: string | undefined
  onDone: () => void
}

/** Pairing by a code that is typed, scanned, or part of the link. */
export function Pair({ code = '', name, onDone }: Props) {
  const words = useTillWords()
  const [typed, setTyped] = useState(code)
  const [problem, setProblem] = useState('')
  const pairing = useKept('pairing')
  const isUnpaired = useKept('isUnpaired')
  const submit = useRef<HTMLFormElement>(null)
  usePairing(pairing, failure => setProblem(problemOf(words, failure)), onDone)
  // Runs before the heading checks whether anything has the focus.
  useLayoutEffect(() => {
    if (code) submit.current?.querySelector<HTMLElement>('button[type=submit]')?.focus()
  }, [code])

  const send = (wanted: string) => {
    setProblem(isWhole(wanted) ? '' : words.codeIncomplete)
    if (isWhole(wanted)) begin(wanted)
  }
  return (
    <main class="pair">
      <form
        ref={submit}
        class="card stack"
        onSubmit={event => {
          event.preventDefault()
          send(typed)
        }}
      >
        <Seal state={pairing ? 'busy' : 'waiting'} size={72} left={0.85} />
        <Heading text={isUnpaired ? words.unpaired : words.pairTitle} problem={problem} />
        <p class="secondary">{isUnpaired ? words.unpairedWhy : words.pairHow}</p>
        {name !== undefined && <Notice tone="wait">{words.pairedAs(name)}</Notice>}
        <Field
          label={words.code}
          hint={words.codeHint}
          problem={problem || undefined}
          value={typed}
          onText={setTyped}
          maxLength={32}
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          enterKeyHint="go"
          required
        />
        <Button type="submit" kind="primary" large wide busy={pairing !== undefined}>
          {pairing ? words.pairing : words.pair}
        </Button>
        {pairing ? (
          <Button kind="quiet" large wide onClick={() => keep('pairing', undefined)}>
            {words.stopPairing}
          </Button>
        ) : (
          <Scanner
            onText={text => {
              const scanned = scannedCode(text)
              setTyped(scanned ?? typed)
              if (scanned === undefined) setProblem(words.codeNotRead)
              else send(scanned)
            }}
          />
        )}
        {name !== undefined && (
          <Button large wide onClick={onDone}>
            {words.keepPairing(name)}
          </Button>
        )}
      </form>
    </main>
  )
}

/** Stored before it is sent. The same code again is the same attempt. */
function begin(code: string): void {
  const before = read('pairing')
  if (before?.code !== code) keep('pairing', { code, key: newKey() })
}

/** Retries an attempt until it is answered, after a reload too. */
function usePairing(pairing: Pairing | undefined, onRefused: (failure: unknown) => void, onDone: () => void): void {
  useEffect(() => {
    if (!pairing) return
    const ended = new AbortController()
    persist(() => pair(pairing), ended.signal, isPassing).then(onDone, (failure: unknown) => {
      if (ended.signal.aborted) return
      keep('pairing', undefined)
      onRefused(failure)
    })
    return () => ended.abort()
  }, [pairing?.key])
}

/** Not 429: after too many wrong codes the wait may be 15 minutes. */
const isPassing = ({ status }: ApiFailure): boolean => status >= 500

function problemOf(words: TillWords, failure: unknown): string {
  if (!(failure instanceof ApiFailure)) return words.pairFailed
  if (failure.code === 'invalid_pairing_code') return words.pairRefused
  if (failure.status !== 429) return words.pairFailed
  const time = minutes((failure.retryAfterSeconds ?? 60) * 1000)
  if (failure.budget === 'enroll-lock') return words.pairLocked(time)
  return failure.budget?.endsWith('-all') ? words.pairTooOftenInAll(time) : words.pairTooOften(time)
}
