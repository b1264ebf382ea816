// Web Bluetooth, where a browser can only be the central client: https://webbluetoothcg.github.io/web-bluetooth/
import type { Notifying, Writable } from '../../shared/loopback.ts'
import type { Link } from './modem.ts'
import { Fault, type FaultCode, within } from './reading.ts'

type Characteristic = EventTarget & {
  value: DataView
  startNotifications: () => Promise<unknown>
  writeValueWithoutResponse: (value: Uint8Array<ArrayBuffer>) => Promise<void>
}
type Server = {
  connected: boolean
  connect: () => Promise<Server>
  disconnect: () => void
  getPrimaryService: (service: string) => Promise<{ getCharacteristic: (name: string) => Promise<Characteristic> }>
}
type Phone = EventTarget & { gatt: Server }
type Bluetooth = {
  getAvailability: () => Promise<boolean>
  requestDevice: (wanted: { filters: { services: string[] }[] }) => Promise<Phone>
}

/** Undefined where the browser has none, and over plain http. */
export const bluetooth = (navigator as { bluetooth?: Bluetooth }).bluetooth

const CONNECT_MS = 10_000
const CONNECT_TRIES = 3
const SERVICE_MS = 7000
const SUBSCRIBE_MS = 5000
const WRITE_MS = 3000

/** A list that stayed open for so long showed no phone. */
const LIST_MS = 20_000

/** Opens the browser's list; it needs a tap of the last seconds. */
export async function choosePhone(radio: Bluetooth, service: string): Promise<Phone> {
  if (!(await radio.getAvailability())) throw new Fault('no_bluetooth')
  const openedAt = Date.now()
  try {
    return await radio.requestDevice({ filters: [{ services: [service] }] })
  } catch (error) {
    // Chromium has one name for a list that was closed, and for a browser that may not look for phones.
    if (!/cancel/.test((error as Error).message)) throw new Fault('no_bluetooth', 'not_allowed')
    throw new Fault('not_chosen', Date.now() - openedAt < LIST_MS ? 'not_chosen' : 'none_seen')
  }
}

export async function connectPhone(phone: Phone, service: string): Promise<Link> {
  const server = await connected(phone)
  const lost = new Promise<void>(resolve => phone.addEventListener('gattserverdisconnected', () => resolve(), { once: true }))
  const orLost = (code: FaultCode) => () => (server.connected ? code : 'lost')
  try {
    const found = await within(characteristicsOf(server, service), SERVICE_MS, orLost('wrong_service'))
    return {
      subscribe: async (to, onValue) => {
        const characteristic = found[to]
        characteristic.addEventListener('characteristicvaluechanged', () => {
          const { buffer, byteOffset, byteLength } = characteristic.value
          // A copy: the buffer is the browser's.
          onValue(new Uint8Array(buffer, byteOffset, byteLength).slice())
        })
        await within(characteristic.startNotifications(), SUBSCRIBE_MS, orLost('wrong_service'))
      },
      write: (to, value) => within(found[to].writeValueWithoutResponse(value), WRITE_MS, orLost('write_failed')),
      close: () => server.disconnect(),
      lost,
    }
  } catch (error) {
    server.disconnect()
    throw error
  }
}

async function connected({ gatt }: Phone): Promise<Server> {
  for (let tries = 1; ; tries++) {
    try {
      return await within(gatt.connect(), CONNECT_MS, () => 'not_connected')
    } catch (error) {
      gatt.disconnect()
      if (tries === CONNECT_TRIES) throw error
    }
  }
}

/** ISO/IEC 18013-5, table of the mdoc service. One after the other: Chromium does one operation at a time. */
async function characteristicsOf(server: Server, uuid: string): Promise<Record<Notifying | Writable, Characteristic>> {
  const service = await server.getPrimaryService(uuid)
  const find = (number: number) => service.getCharacteristic(`0000000${number}-a123-48ce-896b-4c76973373e6`)
  return { state: await find(1), client2server: await find(2), server2client: await find(3) }
}
