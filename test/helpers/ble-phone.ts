// A phone whose radio is the one that Chromium emulates. Every byte goes through the browser; only the push of a notification is
// the test's: the emulator has none, so the page's own characteristic is read, and the value arrives as if it had been notified.
import type { CDPSession, Page } from 'playwright-core'

const UUIDS = {
  state: '00000001-a123-48ce-896b-4c76973373e6',
  client2server: '00000002-a123-48ce-896b-4c76973373e6',
  server2client: '00000003-a123-48ce-896b-4c76973373e6',
} as const
type Name = keyof typeof UUIDS

/** Client Characteristic Configuration: the emulator wants it where something is subscribed to. */
const CONFIGURATION = '00002902-0000-1000-8000-00805f9b34fb'
const PROPERTIES = {
  state: { read: true, notify: true, writeWithoutResponse: true },
  client2server: { writeWithoutResponse: true },
  server2client: { read: true, notify: true },
} as const

/** Any HCI code but 0. */
const REFUSED = 1

type Refusable = 'connection' | 'discovery'

/** The phone behind the radio: `createPeripheral` of the sandbox, or a test of its own. */
export type Carried = {
  subscribe: (to: 'state' | 'server2client') => void
  write: (to: 'state' | 'client2server', value: Uint8Array) => void
}

export type Radio = {
  /** From now on a phone offers this service. */
  offer: (service: string, carried: Carried) => Promise<void>
  notify: (from: 'state' | 'server2client', value: Uint8Array) => Promise<void>
  /** The phone is out of reach. */
  disconnect: () => Promise<void>
  switch: (state: 'absent' | 'powered-off' | 'powered-on') => Promise<void>
  /** The next lists are closed without a choice. */
  closeLists: (isClosed: boolean) => void
  refuse: (what: Refusable, count: number) => void
  /** Leaves these out at the next discovery. */
  leaveOut: (...names: Name[]) => void
  /** How often each was tried. */
  tries: Record<Refusable, number>
  writes: () => number
}

/** The browser has one emulation, for all pages. */
let ended: Promise<unknown> = Promise.resolve()

/** Before the page is loaded. */
export async function openRadio(page: Page): Promise<Radio> {
  const browser = await page.context().browser()!.newBrowserCDPSession()
  const tab = await page.context().newCDPSession(page)
  await page.addInitScript(rememberSubscriptions)
  await ended
  await browser.send('BluetoothEmulation.enable', { state: 'powered-on', leSupported: true })
  page.once('close', () => {
    ended = browser.send('BluetoothEmulation.disable').catch(() => {})
  })
  const tries = { connection: 0, discovery: 0 }
  const refused = { connection: 0, discovery: 0 }
  let writes = 0
  let carried: Carried | undefined
  let service = ''
  let phones = 0
  let address = ''
  let missing: readonly Name[] = []
  let names = new Map<string, Name>()
  let isClosed = false
  let pushed: Uint8Array = new Uint8Array()
  let pushing: Promise<void> = Promise.resolve()

  const isRefused = (what: Refusable): boolean => {
    tries[what]++
    return refused[what] > 0 && refused[what]-- > 0
  }

  await choose(tab, () => isClosed)
  browser.on('BluetoothEmulation.gattOperationReceived', async ({ type }) => {
    if (type === 'discovery') names = await addService(browser, address, service, missing)
    const code = isRefused(type) ? REFUSED : 0
    await browser.send('BluetoothEmulation.simulateGATTOperationResponse', { address, type, code })
  })
  browser.on('BluetoothEmulation.characteristicOperationReceived', async ({ characteristicId, type, data = '' }) => {
    const name = names.get(characteristicId)!
    if (type === 'write') {
      writes++
      carried?.write(name as 'state', Buffer.from(data, 'base64'))
    }
    if (type === 'subscribe-to-notifications') carried?.subscribe(name as 'state')
    const value = type === 'read' ? Buffer.from(pushed).toString('base64') : undefined
    await browser.send('BluetoothEmulation.simulateCharacteristicOperationResponse', {
      characteristicId,
      type,
      code: 0,
      ...(value !== undefined && { data: value }),
    })
  })

  return {
    tries,
    writes: () => writes,
    offer: async (uuid, phone) => {
      service = uuid
      carried = phone
      // Phones change theirs too.
      address = `09:09:09:09:09:${(++phones).toString(16).padStart(2, '0').toUpperCase()}`
      await browser.send('BluetoothEmulation.simulatePreconnectedPeripheral', {
        address,
        name: 'Phone',
        manufacturerData: [],
        knownServiceUuids: [uuid],
      })
    },
    notify: (from, value) => {
      // One after the other, whatever became of the one before.
      const push = async () => {
        pushed = value
        await page.evaluate(uuid => globalThis.subscribed[uuid]!.readValue(), UUIDS[from])
      }
      pushing = pushing.then(push, push)
      return pushing
    },
    disconnect: async () => void (await browser.send('BluetoothEmulation.simulateGATTDisconnection', { address })),
    switch: async state => void (await browser.send('BluetoothEmulation.setSimulatedCentralState', { state })),
    closeLists: closed => {
      isClosed = closed
    },
    refuse: (what, count) => {
      refused[what] = count
    },
    leaveOut: (...left) => {
      missing = left
    },
  }
}

/** Answers each list once: a second answer ends the browser. */
async function choose(tab: CDPSession, isClosed: () => boolean): Promise<void> {
  const answered = new Set<string>()
  tab.on('DeviceAccess.deviceRequestPrompted', async ({ id, devices: [device] }) => {
    if (answered.has(id) || (!device && !isClosed())) return
    answered.add(id)
    if (isClosed()) await tab.send('DeviceAccess.cancelPrompt', { id })
    else await tab.send('DeviceAccess.selectPrompt', { id, deviceId: device!.id })
  })
  await tab.send('DeviceAccess.enable')
}

type Names = Map<string, Name>

async function addService(debuggee: CDPSession, address: string, serviceUuid: string, missing: readonly Name[]): Promise<Names> {
  const { serviceId } = await debuggee.send('BluetoothEmulation.addService', { address, serviceUuid })
  const names = new Map<string, Name>()
  for (const name of (Object.keys(UUIDS) as Name[]).filter(each => !missing.includes(each))) {
    const properties = PROPERTIES[name]
    const { characteristicId } = await debuggee.send('BluetoothEmulation.addCharacteristic', {
      serviceId,
      characteristicUuid: UUIDS[name],
      properties,
    })
    if ('notify' in properties)
      await debuggee.send('BluetoothEmulation.addDescriptor', { characteristicId, descriptorUuid: CONFIGURATION })
    names.set(characteristicId, name)
  }
  return names
}

type Subscribed = { uuid: string; readValue: () => Promise<unknown> }

declare global {
  var subscribed: Record<string, Subscribed>
}

/** Runs in the page. */
function rememberSubscriptions(): void {
  globalThis.subscribed = {}
  const { BluetoothRemoteGATTCharacteristic: found } = globalThis as unknown as {
    BluetoothRemoteGATTCharacteristic?: { prototype: Subscribed & { startNotifications: () => Promise<unknown> } }
  }
  if (!found) return
  const { startNotifications } = found.prototype
  found.prototype.startNotifications = function (this: Subscribed) {
    globalThis.subscribed[this.uuid] = this
    return startNotifications.call(this as never)
  }
}
