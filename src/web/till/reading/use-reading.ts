import { useEffect, useReducer, useRef } from 'preact/hooks'
import type { HostedVerification } from '../../../verifications/schema.ts'
import { HAS_SANDBOX } from '../../shared/base.ts'
import { read } from '../memory.ts'
import { play } from '../sound.ts'
import { bluetooth, choosePhone, connectPhone } from './bluetooth.ts'
import { Fault } from './fault.ts'
import { connectLoopback } from './loopback.ts'
import { exchange, prepare, report, Unanswered } from './read-phone.ts'
import { after, codeOf, OFF, problemOf, type Reading, type Target } from './reading.ts'

export type PhoneReader = {
  reading: Reading
  begin: () => void
  leave: () => void
  scan: (text: string) => void
  /** The same, unless it is the code that was scanned before: a phone goes on showing it. */
  see: (text: string) => void
  /** Call it in the handler of a tap. */
  connect: (target: Target) => void
}

/** How often Bluetooth is looked for while it is off. */
const LOOK_MS = 1000

/** Simulated phones are for test sessions. */
const hasLoopback = ({ environment }: HostedVerification): boolean => HAS_SANDBOX && environment === 'test'

/** True where a phone can be read: over https, by browsers that have Bluetooth. */
export const canRead = (asked: HostedVerification): boolean => isSecureContext && (bluetooth !== undefined || hasLoopback(asked))

/** Reads phones, one after the other, until the session has an end. */
export function usePhoneReader(id: string, asked: HostedVerification): PhoneReader {
  const [reading, tell] = useReducer(after, OFF)
  const attempt = useRef(new AbortController())
  const last = useRef('')
  const isOff = reading.step === 'pairing' && reading.obstacle === 'no_bluetooth'
  useEffect(() => () => attempt.current.abort(), [])
  useEffect(() => {
    if (!isOff) return
    // Chromium has no event for it.
    const look = async () => (await bluetooth?.getAvailability()) && tell({ type: 'switched_on' })
    const timer = setInterval(look, LOOK_MS)
    return () => clearInterval(timer)
  }, [isOff])
  useEffect(() => {
    if (reading.step !== 'sending') return
    // The answer is nowhere else yet.
    const warn = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [reading.step])

  const next = (): AbortSignal => {
    attempt.current.abort()
    attempt.current = new AbortController()
    return attempt.current.signal
  }

  const run = async (signal: AbortSignal, act: () => Promise<void>, target?: Target) => {
    try {
      await act()
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof Fault) report(id, error)
      const why = error instanceof Fault ? problemOf(error.trouble) : error instanceof Unanswered ? error.problem : 'refused'
      tell({ type: 'failed', why, target })
    }
  }

  const pair = async (target: Target, signal: AbortSignal) => {
    if (!bluetooth) throw new Unanswered('no_browser')
    const phone = await choosePhone(bluetooth, target.service)
    tell({ type: 'connecting' })
    await exchange(await connectPhone(phone, target.service), { id, message: target.message, signal, onStep })
  }

  const scan = (text: string) => {
    last.current = text
    const code = codeOf(text)
    tell({ type: 'scanned', code })
    if ('problem' in code) return
    if (read('hasSound')) play('scanned')
    const signal = next()
    run(signal, async () => {
      const target = await prepare(id, code.engagement, signal)
      const simulated = hasLoopback(asked) ? await connectLoopback(target.service) : undefined
      if (signal.aborted) return simulated?.close()
      if (simulated) {
        tell({ type: 'connecting' })
        return await exchange(simulated, { id, message: target.message, signal, onStep })
      }
      tell({ type: 'prepared', target })
      // The tap that opened the camera may still count.
      if (!bluetooth || navigator.userActivation.isActive) await run(signal, () => pair(target, signal), target)
    })
  }

  const onStep = (type: 'sent' | 'received') => tell({ type })

  return {
    reading,
    begin: () => {
      last.current = ''
      tell({ type: 'began' })
    },
    leave: () => {
      attempt.current.abort()
      tell({ type: 'left' })
    },
    scan,
    see: text => text !== last.current && scan(text),
    connect: target => {
      const signal = next()
      run(signal, () => pair(target, signal), target)
    },
  }
}
