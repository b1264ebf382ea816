// The radio of the simulated phone, for a till of this service on another page. It serves one till at a time.
import { type FromPhone, type FromTill, openLoopbackChannel } from '../../shared/loopback.ts'
import { createPeripheral, type Peripheral, type Wiring } from './peripheral.ts'

/** Returns how to switch it off. `onEnd`: the till has ended the session, or is away. */
export function serveTill(service: string, { onEnd, ...wiring }: Omit<Required<Wiring>, 'notify'>): () => void {
  const channel = openLoopbackChannel(service)
  const say = (message: FromPhone) => channel.postMessage(message)
  let served: (Peripheral & { link: string }) | undefined

  channel.onmessage = ({ data }: MessageEvent<FromTill>) => {
    const { type, link } = data
    if (type === 'connect' && !served) {
      const notify: Wiring['notify'] = (from, value) => say({ type: 'notify', from, value, link })
      served = { link, ...createPeripheral({ ...wiring, notify, onEnd }) }
      return say({ type: 'connected', mtu: wiring.mtu, link })
    }
    if (link !== served?.link) return
    if (type === 'subscribe') served.subscribe(data.to)
    if (type === 'write') served.write(data.to, data.value)
    if (type !== 'disconnect') return
    served = undefined
    onEnd()
  }

  const leave = () => {
    served?.leave()
    if (served) say({ type: 'disconnected', link: served.link })
    served = undefined
  }
  addEventListener('pagehide', leave)
  return () => {
    removeEventListener('pagehide', leave)
    leave()
    channel.close()
  }
}
