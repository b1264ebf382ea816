// One message to a phone and one back (ISO/IEC 18013-5, BLE with the phone as peripheral server). It knows nothing of their content.
import { chunksOf, Reassembler } from '../../shared/ble-framing.ts'
import { END, type Notifying, START, type Writable } from '../../shared/loopback.ts'
import { Fault, type FaultCode } from './reading.ts'

/** A connection to a phone: Bluetooth, or the loopback of the simulated phone. */
export type Link = {
  subscribe: (to: Notifying, onValue: (value: Uint8Array) => void) => Promise<void>
  write: (to: Writable, value: Uint8Array<ArrayBuffer>) => Promise<void>
  close: () => void
  /** Resolves when the phone is gone. */
  lost: Promise<void>
}

export type Modem = Awaited<ReturnType<typeof startModem>>

/** Within a message. */
const SILENCE_MS = 10_000

/** `received` is the message of the phone, as soon as it is whole; `chunkBytes` how much the phone takes at once. */
export async function startModem(link: Link, chunkBytes: number) {
  const { promise: received, resolve, reject } = Promise.withResolvers<Uint8Array>()
  let silence: ReturnType<typeof setTimeout> | undefined
  const fail = (code: FaultCode) => {
    clearTimeout(silence)
    reject(new Fault(code))
  }
  // It may come before anybody waits for it.
  received.catch(() => {})
  link.lost.then(() => fail('lost'))
  const message = new Reassembler()
  const take = (chunk: Uint8Array) => {
    const taken = message.take(chunk)
    clearTimeout(silence)
    if (typeof taken === 'string') fail(taken)
    else if (taken) resolve(taken)
    else silence = setTimeout(fail, SILENCE_MS, 'timed_out')
  }
  // In this order: phones count the subscriptions.
  await link.subscribe('state', ([value]) => value === END && fail('lost'))
  await link.subscribe('server2client', take)
  await link.write('state', Uint8Array.of(START))

  // Never sent again: the phone would see two messages.
  const send = async (message: Uint8Array) => {
    for (const chunk of chunksOf(message, chunkBytes)) await link.write('client2server', chunk)
  }
  let hasEnded = false
  /** Says a last word, and disconnects. */
  const end = async (lastWord?: Uint8Array) => {
    if (hasEnded) return
    hasEnded = true
    clearTimeout(silence)
    try {
      if (lastWord) await send(lastWord)
      await link.write('state', Uint8Array.of(END))
    } catch {
      // Phones may go as soon as they have answered.
    } finally {
      link.close()
    }
  }
  return { send, received, end }
}
