// The radio of the simulated phone, for a till of this service on another page. It serves one till at a time.
import { createPeripheral, type Peripheral } from '../../../sandbox/phone/peripheral.ts'
import { type FromPhone, type FromTill, openLoopbackChannel } from '../../shared/loopback.ts'

type Serving = {
  mtu: number
  onMessage: (message: Uint8Array) => Promise<Uint8Array | undefined>
  /** The till has ended the session, or is away. */
  onEnd: () => void
}

/** Returns how to switch it off. */
export function serveTill(service: string, { mtu, onMessage, onEnd }: Serving): () => void {
  const channel = openLoopbackChannel(service)
  let served: { link: string; peripheral: Peripheral } | undefined

  function connect(link: string) {
    const say = (message: Omit<Extract<FromPhone, { type: 'notify' }>, 'link'>) => channel.postMessage({ ...message, link })
    const peripheral = createPeripheral({
      mtu,
      onMessage,
      notify: (from, value) => say({ type: 'notify', from, value }),
      onEnd,
    })
    served = { link, peripheral }
    channel.postMessage({ type: 'connected', mtu, link } satisfies FromPhone)
  }

  channel.onmessage = ({ data }: MessageEvent<FromTill>) => {
    if (data.type === 'connect' && !served) return connect(data.link)
    if (!served || data.link !== served.link) return
    if (data.type === 'subscribe') served.peripheral.subscribe(data.to)
    else if (data.type === 'write') served.peripheral.write(data.to, data.value)
    else if (data.type === 'disconnect') {
      served = undefined
      onEnd()
    }
  }

  const leave = () => {
    if (!served) return
    served.peripheral.leave()
    channel.postMessage({ type: 'disconnected', link: served.link } satisfies FromPhone)
    served = undefined
  }
  addEventListener('pagehide', leave)
  return () => {
    removeEventListener('pagehide', leave)
    leave()
    channel.close()
  }
}
