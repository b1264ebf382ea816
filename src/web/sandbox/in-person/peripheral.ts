// The simulated phone as a BLE peripheral server (ISO/IEC 18013-5, 8.3.3.1.1). Whoever carries it, the loopback of a page or the
// emulated radio of a browser, calls these three functions.
import { chunksOf, Reassembler } from '../../shared/ble-framing.ts'
import { ATT_HEADER_BYTES, END, type Notifying, START, type Writable } from '../../shared/loopback.ts'

/** The least of Bluetooth, and the size from which a value has its largest length, 512 bytes. */
const MTU_MIN = 23
export const MTU_MAX = 515

export type Wiring = {
  mtu?: number
  /** Takes a whole message; what it returns is sent. */
  onMessage: (message: Uint8Array) => Promise<Uint8Array | undefined>
  notify: (from: Notifying, value: Uint8Array) => void
  onEnd?: () => void
}

export type Peripheral = ReturnType<typeof createPeripheral>

export function createPeripheral({ mtu = MTU_MAX, onMessage, notify, onEnd }: Wiring) {
  if (mtu < MTU_MIN || mtu > MTU_MAX) throw new RangeError(`an MTU of ${mtu} is not between ${MTU_MIN} and ${MTU_MAX}`)
  const valueMax = mtu - ATT_HEADER_BYTES
  const subscribed = new Set<Notifying>()
  let hasStarted = false
  let received = new Reassembler()

  function end() {
    if (hasStarted) onEnd?.()
    hasStarted = false
  }

  async function take(message: Uint8Array) {
    const answer = await onMessage(message)
    if (answer && hasStarted) for (const chunk of chunksOf(answer, valueMax)) notify('server2client', chunk)
  }

  return {
    subscribe: (to: Notifying) => void subscribed.add(to),
    write(to: Writable, value: Uint8Array) {
      if (value.length > valueMax) throw new RangeError(`a value of ${value.length} bytes does not fit an MTU of ${mtu}`)
      if (to === 'state') {
        // As phones do that count their subscribers.
        hasStarted ||= value[0] === START && subscribed.size >= 2
        if (value[0] === END) end()
        return
      }
      if (!hasStarted) throw new TypeError('a message comes before the start')
      const message = received.take(value)
      if (!(message instanceof Uint8Array)) return
      received = new Reassembler()
      void take(message)
    },
    /** The phone ends the session. */
    leave() {
      if (hasStarted) notify('state', Uint8Array.of(END))
      end()
    },
  }
}
