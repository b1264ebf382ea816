// The phone as a BLE peripheral server (ISO/IEC 18013-5, 8.3.3.1.1): messages in chunks over three characteristics. Whoever
// carries it, the loopback of a page or the emulated radio of a browser, calls these three functions.
import { concat } from '../bytes.ts'
import type { Mutations } from '../mutations.ts'

const BASE = '-a123-48ce-896b-4c76973373e6'

/** Their UUIDs, by the names of the standard. */
export const CHARACTERISTICS = {
  state: `00000001${BASE}`,
  client2server: `00000002${BASE}`,
  server2client: `00000003${BASE}`,
} as const

type Written = 'state' | 'client2server'
type Notified = 'state' | 'server2client'

/** Values of State. */
const START = 1
const END = 2

/** First byte of a chunk. */
const MORE = 1
const LAST = 0

/** The least of Bluetooth, and the size from which a value has its largest length, 512 bytes. */
const MTU_MIN = 23
export const MTU_MAX = 515

type Wiring = {
  mtu?: number
  mutations?: Mutations
  /** Takes a whole message; what it returns is sent. */
  onMessage: (message: Uint8Array) => Promise<Uint8Array | undefined>
  notify: (from: Notified, value: Uint8Array) => void
  onEnd?: () => void
}

export type Peripheral = {
  subscribe: (to: Notified) => void
  write: (to: Written, value: Uint8Array) => void
  /** The phone ends the session. */
  leave: () => void
}

export function createPeripheral({ mtu = MTU_MAX, mutations = {}, onMessage, notify, onEnd }: Wiring): Peripheral {
  if (mtu < MTU_MIN || mtu > MTU_MAX) throw new RangeError(`an MTU of ${mtu} is not between ${MTU_MIN} and ${MTU_MAX}`)
  const valueMax = mtu - 3
  const subscribed = new Set<Notified>()
  let hasStarted = false
  let received: Uint8Array[] = []

  function end() {
    if (hasStarted) onEnd?.()
    hasStarted = false
  }

  async function take(message: Uint8Array) {
    const answer = await onMessage(message)
    if (!answer || !hasStarted) return
    const chunks = chunksOf(answer, valueMax, mutations)
    for (const chunk of mutations.secondMessage ? [...chunks, ...chunks] : chunks) notify('server2client', chunk)
  }

  return {
    subscribe: to => void subscribed.add(to),
    write(to, value) {
      if (value.length > valueMax) throw new RangeError(`a value of ${value.length} bytes does not fit an MTU of ${mtu}`)
      if (to === 'state') {
        // As phones do that count their subscribers.
        hasStarted ||= value[0] === START && subscribed.size >= 2
        if (value[0] === END) end()
        return
      }
      if (!hasStarted) throw new TypeError('a message comes before the start')
      received.push(value.slice(1))
      if (value[0] !== LAST) return
      const message = concat(...received)
      received = []
      void take(message)
    },
    leave() {
      if (hasStarted) notify('state', Uint8Array.of(END))
      end()
    },
  }
}

/** `chunkSize` is that of the payload. */
function chunksOf(message: Uint8Array, valueMax: number, { chunkSize, badChunk, neverLast }: Mutations): Uint8Array[] {
  const size = Math.min(chunkSize ?? valueMax - 1, valueMax - 1)
  const count = Math.max(1, Math.ceil(message.length / size))
  const chunks: Uint8Array[] = Array.from({ length: count }, (_, at) =>
    concat(Uint8Array.of(at + 1 < count || neverLast ? MORE : LAST), message.subarray(at * size, (at + 1) * size)),
  )
  if (badChunk === 'first_byte') chunks[0]![0] = 2
  if (badChunk === 'empty') chunks.splice(0, 0, new Uint8Array())
  if (badChunk === 'after_last') chunks.push(Uint8Array.of(LAST, 0))
  return chunks
}
