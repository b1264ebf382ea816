import { ATT_HEADER_BYTES, type FromPhone, type Notifying, openLoopbackChannel, type ToPhone } from '../../shared/loopback.ts'
import { newKey } from '../new-key.ts'
import type { Link } from './modem.ts'
import { Fault } from './reading.ts'

const CONNECT_MS = 300

/** The simulated phone of another page, if it has this service. */
export async function connectLoopback(service: string): Promise<Link | undefined> {
  const channel = openLoopbackChannel(service)
  const link = newKey()
  const say = (message: ToPhone) => channel.postMessage({ ...message, link })
  const connected = Promise.withResolvers<number | undefined>()
  const lost = Promise.withResolvers<void>()
  const heard: Partial<Record<Notifying, (value: Uint8Array) => void>> = {}
  channel.onmessage = ({ data }: MessageEvent<FromPhone>) => {
    if (data.link !== link) return
    if (data.type === 'connected') connected.resolve(data.mtu)
    else if (data.type === 'notify') heard[data.from]?.(data.value)
    else lost.resolve()
  }
  const close = () => {
    removeEventListener('pagehide', close)
    say({ type: 'disconnect' })
    channel.close()
  }
  // A page that closes cannot say it any other way.
  addEventListener('pagehide', close)
  say({ type: 'connect' })
  setTimeout(connected.resolve, CONNECT_MS)
  const mtu = await connected.promise
  if (mtu === undefined) return void close()
  return {
    subscribe: async (to, onValue) => {
      heard[to] = onValue
      say({ type: 'subscribe', to })
    },
    write: async (to, value) => {
      // As platforms do.
      if (value.length > mtu - ATT_HEADER_BYTES) throw new Fault('write_failed')
      say({ type: 'write', to, value })
    },
    close,
    lost: lost.promise,
  }
}
