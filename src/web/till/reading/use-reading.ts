import { useEffect, useRef, useState } from 'preact/hooks'
import type { HostedVerification } from '../../../verifications/schema.ts'
import { HAS_SANDBOX } from '../../shared/base.ts'
import { read } from '../memory.ts'
import { play } from '../sound.ts'
import { bluetooth, choosePhone, connectPhone } from './bluetooth.ts'
import { connectLoopback } from './loopback.ts'
import type { Link } from './modem.ts'
import { exchange, prepare, report } from './read-phone.ts'
import { afterFailure, afterSwitch, codeOf, Fault, type Reading, type Target, Unread } from './reading.ts'

export type PhoneReader = ReturnType<typeof usePhoneReader>

/** How often Bluetooth is looked for while it is off. */
const LOOK_MS = 1000

/** Simulated phones are for test sessions. */
const hasLoopback = ({ environment }: HostedVerification): boolean => HAS_SANDBOX && environment === 'test'

/** True where a phone can be read: over https, by browsers that have Bluetooth. */
export const canRead = (asked: HostedVerification): boolean => isSecureContext && (bluetooth !== undefined || hasLoopback(asked))

/** Reads phones, one after the other, until the session has an end. */
export function usePhoneReader(id: string, asked: HostedVerification) {
  const [reading, show] = useState<Reading>({ step: 'off' })
  const attempt = useRef(new AbortController())
  const last = useRef('')
  const isOff = reading.step === 'pairing' && reading.obstacle === 'no_bluetooth'
  const isFree = reading.step === 'off' || reading.step === 'scanning'
  useEffect(() => () => attempt.current.abort(), [])
  useEffect(() => {
    if (!isOff) return
    // Chromium has no event for it.
    const look = async () => (await bluetooth?.getAvailability()) && show(afterSwitch)
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
  useEffect(() => {
    if (self === top || !isFree) return
    // In a frame of the demo, the page around it holds the code of its phone to this till.
    const listen = ({ source, origin, data }: MessageEvent<{ type: string; code: string }>) => {
      if (source === parent && origin === location.origin && data.type === 'vidimus-code') scan(data.code)
    }
    addEventListener('message', listen)
    return () => removeEventListener('message', listen)
  }, [isFree])

  /** Ends the attempt before. */
  const run = async (act: (signal: AbortSignal) => Promise<void>, target?: Target) => {
    attempt.current.abort()
    attempt.current = new AbortController()
    const { signal } = attempt.current
    try {
      await act(signal)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof Fault) report(id, error.code)
      show(afterFailure(error instanceof Unread ? error.why : 'refused', target))
    }
  }

  const talk = (link: Link, { message }: Target, signal: AbortSignal) =>
    exchange(link, { id, message, signal, onStep: step => show({ step }) })

  /** Call it in the handler of a tap. */
  const connect = (target: Target) =>
    run(async signal => {
      if (!bluetooth) throw new Unread('no_browser')
      const phone = await choosePhone(bluetooth, target.service)
      show({ step: 'connecting' })
      await talk(await connectPhone(phone, target.service), target, signal)
    }, target)

  const scan = (text: string) => {
    last.current = text
    const code = codeOf(text)
    if ('problem' in code) return show({ step: 'scanning', problem: code.problem })
    show({ step: 'preparing' })
    if (read('hasSound')) play('scanned')
    run(async signal => {
      const target = await prepare(id, code.engagement, signal)
      const simulated = hasLoopback(asked) ? await connectLoopback(target.service) : undefined
      if (signal.aborted) return simulated?.close()
      if (simulated) {
        show({ step: 'connecting' })
        return await talk(simulated, target, signal)
      }
      show({ step: 'pairing', target })
      // The tap that opened the camera may still count.
      if (!bluetooth || navigator.userActivation.isActive) connect(target)
    })
  }

  return {
    reading,
    begin: () => {
      last.current = ''
      show({ step: 'scanning' })
    },
    leave: () => {
      attempt.current.abort()
      show({ step: 'off' })
    },
    scan,
    /** Scans what the camera sees, unless it is the code from before: a phone goes on showing it. */
    see: (text: string) => {
      if (text !== last.current) scan(text)
    },
    connect,
  }
}
