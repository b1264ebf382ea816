// A till reads a phone in person: by the radio that Chromium emulates, and by the loopback of the simulated phone.
import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import encodeQR from 'qr'
import { phoneOf } from '../../scripts/persona-phone.ts'
import { changeDevice } from '../../src/devices/change.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { refusalOf } from '../../src/sandbox/phone/phone.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createPeripheral, MTU_MAX } from '../../src/web/sandbox/in-person/peripheral.ts'
import { until } from '../helpers/app.ts'
import { openRadio } from '../helpers/ble-phone.ts'
import { browserTest, type OpenPage } from '../helpers/browser.ts'
import { isFocused, press } from '../helpers/focus.ts'
import { cheats, type PhoneCheats } from '../helpers/phone-cheats.ts'
import { sessionsOf, shareService, startShop } from '../helpers/shop.ts'
import { answer, ask, button, heading, look, openTill, pretendCamera, wake } from '../helpers/till.ts'
import { holderOf } from '../helpers/wallet.ts'

shareService()

declare global {
  /** Lets the page use Bluetooth again. */
  var allow: () => void
  /** How often the page looked for a code. */
  var looks: number | undefined
}

/** As Chromium does where its user, or Android, has refused it camera and "Nearby devices". Runs in the page. */
function refuseByPermission(): void {
  navigator.mediaDevices.enumerateDevices = async () => [{ kind: 'videoinput' } as MediaDeviceInfo]
  navigator.mediaDevices.getUserMedia = async () => {
    throw new DOMException('Permission denied', 'NotAllowedError')
  }
  const { bluetooth } = navigator as unknown as { bluetooth: { requestDevice: (wanted: object) => Promise<unknown> } }
  const { requestDevice } = bluetooth
  globalThis.allow = () => Object.assign(bluetooth, { requestDevice })
  bluetooth.requestDevice = async () => {
    throw new DOMException('User denied the browser permission to scan for Bluetooth devices.', 'NotFoundError')
  }
}

const FIELD = 'Code from a hand scanner'
const CONSENT = "Waiting for the customer's consent"

type Showing = {
  persona?: PersonaId
  mutations?: PhoneCheats
  mtu?: number
  /** Stays silent. */
  waits?: boolean
  /** What is sent instead of a chunk. */
  chunks?: (chunk: Uint8Array) => Uint8Array[]
}

/** A till with a radio, and its check. */
async function openReading(openPage: OpenPage, options: Parameters<typeof openTill>[1] = {}) {
  const till = await openTill(openPage, { templates: ['age_over_18'], ...options })
  const { app, page, key } = till
  const radio = await openRadio(page)
  await page.reload()
  const reported: string[] = []
  page.on('request', request => {
    if (request.url().endsWith('/in-person-failure')) reported.push(JSON.parse(request.postData() ?? '').code)
  })
  /** A customer shows the code of a phone. */
  const show = async ({ persona = 'adult', mutations = {}, mtu, waits = false, chunks = chunk => [chunk] }: Showing = {}) => {
    const phone = await phoneOf(await holderOf(app, persona), { mutations: cheats(mutations) })
    const notified = Promise.withResolvers<void>()
    const carried = createPeripheral({
      mtu,
      onMessage: async message => {
        const answered = await phone.receive(message).catch(refusalOf)
        return waits ? undefined : answered
      },
      // A phone that is not connected any more reaches nobody.
      notify: (from, value) => {
        for (const each of from === 'state' ? [value] : chunks(value)) radio.notify(from, each).then(notified.resolve, () => {})
      },
    })
    // A radio that takes less at once cuts what is too long, and tells nobody.
    const write = (to: 'state' | 'client2server', value: Uint8Array) => carried.write(to, value.subarray(0, (mtu ?? MTU_MAX) - 3))
    await radio.offer(phone.service!, { ...carried, write })
    return { ...phone, peripheral: carried, ended: () => phone.ended, notified: notified.promise }
  }
  const read = async () => {
    const { id } = sessionsOf(till).at(-1)!
    return (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body
  }
  return { ...till, radio, show, read, reported }
}

async function scan(page: Page, code: string): Promise<void> {
  await page.getByLabel(FIELD).fill(code)
  await page.keyboard.press('Enter')
}

/** The sentence beside the camera. */
const problem = (page: Page, text: string) => page.locator('.scanning .notice', { hasText: text }).waitFor()

const lost = (page: Page) => problem(page, 'The connection was lost. Ask the customer to show a new code.')

describe('a phone that is read', () => {
  browserTest('the answer of a phone nearby is the verdict, and nobody needed the code', async openPage => {
    const { page, show, reported } = await openReading(openPage)
    await ask(page)
    await button(page, 'Read the phone').click()
    await isFocused(page.getByLabel(FIELD))
    await look(page, 'scan')
    const phone = await show()
    await scan(page, phone.code)
    await heading(page, 'Yes').waitFor()
    await until(async () => phone.ended() === 20)
    expect(reported).toEqual([])
    expect(page.complaints).toEqual([])
  })

  browserTest('P52: everything works with the keyboard, in German, and R starts it', async openPage => {
    const { page, show } = await openReading(openPage)
    await button(page, 'Deutsch').click()
    await page.keyboard.press('1')
    await heading(page, 'Mit Ihrer Wallet scannen').waitFor()
    await page.keyboard.press('r')
    const field = page.getByLabel('Code vom Handscanner')
    await isFocused(field)
    await look(page, 'scan-german')
    const phone = await show({ waits: true })
    await page.keyboard.type(`${phone.code}\n`)
    await heading(page, 'Wartet auf die Zustimmung').waitFor()
    await look(page, 'consent-german')
    await press(button(page, 'Anderen Weg nehmen'))
    await heading(page, 'Mit Ihrer Wallet scannen').waitFor()
    await until(async () => phone.ended() === 20)
    const second = await show()
    await page.keyboard.press('R')
    await isFocused(field)
    await page.keyboard.type(`${second.code}\n`)
    await heading(page, 'Ja').waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('P45, P48: a phone that got chunks cut short says so, and the next ones are small, for a day', async openPage => {
    const { page, radio, show, reported } = await openReading(openPage)
    await ask(page)
    await button(page, 'Read the phone').click()
    await scan(page, (await show({ mtu: 23 })).code)
    await problem(page, 'The phone shared nothing.')
    const large = radio.writes()
    await scan(page, (await show({ mtu: 23 })).code)
    await heading(page, 'Yes').waitFor()
    const small = radio.writes() - large
    expect(small).toBeGreaterThan(large * 5)
    await button(page, 'Next customer').click()
    await ask(page)
    await button(page, 'Read the phone').click()
    await scan(page, (await show({ mtu: 23 })).code)
    await heading(page, 'Yes').waitFor()
    expect(reported).toEqual([])
    await page.clock.setFixedTime(Date.now() + 86_400_001)
    await button(page, 'Next customer').click()
    await ask(page)
    await button(page, 'Read the phone').click()
    await scan(page, (await show()).code)
    await heading(page, 'Yes').waitFor()
    expect(radio.writes() - large - 2 * small).toBeLessThan(small)
  })

  browserTest('a code before the camera is read, and a wrong one leaves the camera on', async openPage => {
    const { page, show } = await openReading(openPage)
    const phone = await show()
    await page.addInitScript(pretendCamera, encodeQR('https://wine.example/menu', 'raw', { border: 4 }))
    await page.reload()
    await ask(page)
    await button(page, 'Read the phone').click()
    await problem(page, 'This is not the code for showing a document in person.')
    await look(page, 'scan-camera')
    // The customer turns to the right page of the wallet.
    await page.evaluate(pretendCamera, encodeQR(phone.code, 'raw', { border: 4 }))
    await button(page, 'Use another way').click()
    await button(page, 'Read the phone').click()
    await heading(page, 'Yes').waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('a code that failed is not read again while the phone goes on showing it', async openPage => {
    const { page, radio, show, reported } = await openReading(openPage)
    const phone = await show()
    await page.addInitScript(pretendCamera, encodeQR(phone.code, 'raw', { border: 4 }))
    await page.reload()
    await ask(page)
    radio.refuse('connection', 3)
    await button(page, 'Read the phone').click()
    await problem(page, 'The phone does not answer. Ask the customer to show a new code.')
    await page.evaluate(() => {
      const { getImageData } = CanvasRenderingContext2D.prototype
      CanvasRenderingContext2D.prototype.getImageData = function (...area: Parameters<typeof getImageData>) {
        globalThis.looks = (globalThis.looks ?? 0) + 1
        return getImageData.apply(this, area)
      }
    })
    await until(async () => ((await page.evaluate(() => globalThis.looks)) ?? 0) > 5)
    expect([radio.tries.connection, reported]).toEqual([3, ['not_connected']])
  })

  browserTest('an answer by the code ends a reading, and the phone is told', async openPage => {
    const { app, page, show } = await openReading(openPage)
    const uri = await ask(page)
    await button(page, 'Read the phone').click()
    const phone = await show({ waits: true })
    await scan(page, phone.code)
    await heading(page, CONSENT).waitFor()
    expect(await page.getByText('To check that you are 18 or over').isVisible()).toBe(true)
    await look(page, 'consent')
    await answer(app, uri)
    await heading(page, 'Yes').waitFor()
    await until(async () => phone.ended() === 20)
    expect(page.complaints).toEqual([])
  })
})

describe('the simulated phone', () => {
  browserTest(
    'P48: the sandbox is read without a radio; a write that failed is not repeated, but smaller in the next attempt',
    async openPage => {
      const { origin, page } = await openTill(openPage, { templates: ['age_over_18'] })
      const reported: string[] = []
      page.on('request', request => request.url().endsWith('/in-person-failure') && reported.push(request.postData() ?? ''))
      const sandbox = await page.context().newPage()
      await sandbox.goto(`${origin}/sandbox`)
      await sandbox.getByRole('button', { name: 'Show in person' }).click()
      await sandbox.getByText('Choices for developers').click()
      const first = await codeOf(sandbox)
      await sandbox.getByRole('combobox', { name: 'Size of a packet (MTU)' }).selectOption('23')
      await sandbox.getByText(first).waitFor({ state: 'detached' })
      await ask(page)
      await button(page, 'Read the phone').click()
      await scan(page, await codeOf(sandbox))
      await lost(page)
      expect(reported).toEqual(['{"code":"write_failed"}'])
      await scan(page, await codeOf(sandbox))
      await heading(page, CONSENT).waitFor()
      // A till that is closed lets the phone go.
      await sandbox.getByRole('button', { name: 'Share', exact: true }).waitFor()
      await page.reload()
      await sandbox.getByRole('img', { name: 'Code for a till' }).waitFor()
      await button(page, 'Read the phone').click()
      await scan(page, await codeOf(sandbox))
      await sandbox.getByRole('button', { name: 'Share', exact: true }).click()
      await heading(page, 'Yes').waitFor()
      expect(reported).toHaveLength(1)
      expect(page.complaints).toEqual([])
    },
  )

  browserTest('P51: it is not looked for by a live till', async openPage => {
    const { app, origin, page } = await openTill(openPage, { templates: ['age_over_18'], live: true })
    const { code, service } = await phoneOf(await holderOf(app))
    const sandbox = await page.context().newPage()
    await sandbox.goto(`${origin}/sandbox`)
    await sandbox.evaluate(
      name => new BroadcastChannel(name).addEventListener('message', () => Object.assign(window, { isAsked: true })),
      `vidimus-ble ${service}`,
    )
    await button(page, 'Age 18 or over').click()
    await button(page, 'Read the phone').click()
    await scan(page, code)
    // Past the loopback's turn: Bluetooth is asked, and there is none.
    await page.getByRole('alert').getByText('Bluetooth is off on this tablet. Switch it on.').waitFor()
    expect(await sandbox.evaluate('window.isAsked')).toBeUndefined()
  })
})

const codeOf = async (sandbox: Page): Promise<string> => (await sandbox.getByText(/^mdoc:/).textContent()) ?? ''

describe('a phone that is not read', () => {
  browserTest(
    'P47: one that leaves during the consent is lost, by State or without a word, and a new code works',
    async openPage => {
      const { page, radio, show, read, reported } = await openReading(openPage)
      await ask(page)
      await button(page, 'Read the phone').click()
      for (const leave of ['state', 'radio']) {
        const phone = await show({ waits: true })
        await scan(page, phone.code)
        await heading(page, CONSENT).waitFor()
        if (leave === 'state') phone.peripheral.leave()
        else await radio.disconnect()
        await lost(page)
        await isFocused(page.getByLabel(FIELD))
      }
      expect(reported).toEqual(['lost', 'lost'])
      expect((await read()).status).toBe('pending')
      await look(page, 'scan-lost')
      await scan(page, (await show()).code)
      await heading(page, 'Yes').waitFor()
      expect(page.complaints).toEqual([])
    },
  )

  browserTest(
    'P47: one that leaves in the middle of its message is lost, by State or without a word, and nothing is handed in',
    async openPage => {
      const { page, radio, show, read, reported } = await openReading(openPage)
      const handedIn: string[] = []
      page.on('request', request => request.url().endsWith('/in-person-response') && handedIn.push(request.url()))
      await ask(page)
      await button(page, 'Read the phone').click()
      for (const leave of ['state', 'radio']) {
        let sent = 0
        const phone = await show({ mtu: 247, chunks: chunk => (++sent === 1 ? [chunk] : []) })
        await scan(page, phone.code)
        await phone.notified
        await until(async () => sent > 2)
        if (leave === 'state') phone.peripheral.leave()
        else await radio.disconnect()
        await lost(page)
      }
      expect([reported, handedIn]).toEqual([['lost', 'lost'], []])
      expect((await read()).status).toBe('pending')
      await scan(page, (await show()).code)
      await heading(page, 'Yes').waitFor()
      expect(page.complaints).toEqual([])
    },
  )

  browserTest(
    'P47: one that does not answer is tried three times, and one that lacks what its code promised is named',
    async openPage => {
      const { page, radio, show, reported } = await openReading(openPage)
      await ask(page)
      await button(page, 'Read the phone').click()
      radio.refuse('connection', 3)
      await scan(page, (await show()).code)
      await problem(page, 'The phone does not answer. Ask the customer to show a new code.')
      expect(radio.tries.connection).toBe(3)
      radio.leaveOut('server2client')
      await scan(page, (await show()).code)
      await problem(page, 'This phone did not offer what its code promised. Ask the customer to show a new code.')
      radio.leaveOut()
      await scan(page, (await show()).code)
      await heading(page, 'Yes').waitFor()
      expect(reported).toEqual(['not_connected', 'wrong_service'])
    },
  )

  browserTest('P46: chunks that are wrong and messages without an end are faults, each reported once', async openPage => {
    const { page, show, read, reported } = await openReading(openPage)
    await page.clock.install()
    await ask(page)
    await button(page, 'Read the phone').click()
    await scan(page, (await show({ chunks: chunk => [chunk.with(0, 2)] })).code)
    await problem(page, 'The answer could not be read. Ask the customer to show a new code.')
    const endless = await show({ chunks: chunk => [chunk.with(0, 1)] })
    await scan(page, endless.code)
    await endless.notified
    await page.clock.fastForward(11_000)
    await lost(page)
    expect(reported).toEqual(['bad_chunk', 'timed_out'])
    expect((await read()).status).toBe('pending')
    await scan(page, (await show({ chunks: chunk => (chunk[0] === 0 ? [chunk, Uint8Array.of(0, 0)] : [chunk]) })).code)
    await heading(page, 'Yes').waitFor()
    expect(reported).toHaveLength(2)
  })

  browserTest(
    'one whose owner closes the request shared nothing, and an answer that cannot be opened needs a new code',
    async openPage => {
      const { page, show, read, reported } = await openReading(openPage)
      await ask(page)
      await button(page, 'Read the phone').click()
      await scan(page, (await show({ persona: 'declines' })).code)
      await problem(page, 'The customer closed the request. Nothing was shared.')
      await scan(page, (await show({ mutations: { statusOnly: 11 } })).code)
      await problem(page, 'The phone shared nothing.')
      await scan(page, (await show({ mutations: { skSwapped: true } })).code)
      await problem(page, 'The answer could not be read. Ask the customer to show a new code.')
      expect((await read()).status).toBe('pending')
      expect(reported).toEqual([])
      await button(page, 'Use another way').click()
      await heading(page, 'Scan with your wallet').waitFor()
    },
  )
})

describe('a code that is not read', () => {
  browserTest('P52: other codes are not sent, and a scanner with another keyboard is explained', async openPage => {
    const { page, show } = await openReading(openPage)
    const sent: string[] = []
    page.on('request', request => sent.push(new URL(request.url()).pathname))
    await ask(page)
    await button(page, 'Read the phone').click()
    await page.keyboard.press('Enter')
    await scan(page, 'openid4vp://?client_id=x')
    await problem(page, 'This is not the code for showing a document in person.')
    const phone = await show()
    await scan(page, phone.code.replace(':', 'Ö'))
    await problem(page, 'The scanner types other characters than the code has.')
    await look(page, 'scan-layout')
    expect(sent.filter(path => path.includes('in-person'))).toEqual([])
    await scan(page, 'mdoc:AAAAAAAAAAAAAAAAAAAAAAAA')
    await problem(page, 'This code cannot be read. Ask the customer to show a new one.')
  })

  browserTest('a wallet that wants to connect by itself leads to the other ways', async openPage => {
    const { app, page } = await openReading(openPage)
    await ask(page)
    await button(page, 'Read the phone').click()
    const { code } = await phoneOf(await holderOf(app), { mode: 'central' })
    await scan(page, code)
    await problem(page, 'This wallet cannot be read by a browser')
    expect(await button(page, 'Use another way').isVisible()).toBe(true)
  })
})

describe('the list of the browser', () => {
  browserTest('P49: a list that was closed, a tap too long ago, and Bluetooth that is off and then on', async openPage => {
    const { page, radio, show, reported } = await openReading(openPage)
    await ask(page)
    await button(page, 'Read the phone').click()
    radio.closeLists(true)
    await scan(page, (await show()).code)
    await page.getByRole('alert').getByText('No phone was chosen.').waitFor()
    await look(page, 'connect')
    // An adapter that is there, but off, is the list's own business.
    await radio.switch('absent')
    await button(page, 'Connect').click()
    await page.getByRole('alert').getByText('Bluetooth is off on this tablet. Switch it on.').waitFor()
    await radio.switch('powered-on')
    await page.getByText('The browser shows one phone').waitFor()
    radio.closeLists(false)
    await button(page, 'Connect').click()
    await heading(page, 'Yes').waitFor()
    expect(reported).toEqual(['not_chosen', 'no_bluetooth'])
  })

  browserTest(
    'a browser that may use neither camera nor Bluetooth says how to allow them, and goes on when it may',
    async openPage => {
      const { page, show, read, reported } = await openReading(openPage)
      await page.addInitScript(refuseByPermission)
      await page.reload()
      await ask(page)
      await button(page, 'Read the phone').click()
      await page.getByText('The camera may not be used. Allow it in the browser, or type the code.').waitFor()
      await isFocused(page.getByLabel(FIELD))
      await look(page, 'scan-refused')
      await scan(page, (await show()).code)
      await page.getByRole('alert').getByText('This browser may not use Bluetooth. Allow “Nearby devices” for it').waitFor()
      await look(page, 'connect-refused')
      expect([(await read()).status, reported]).toEqual(['pending', ['no_bluetooth']])
      await page.evaluate(() => globalThis.allow())
      await button(page, 'Connect').click()
      await heading(page, 'Yes').waitFor()
    },
  )

  browserTest('P49: two tabs of a till get one message for one code', async openPage => {
    const { origin, page, radio, show } = await openReading(openPage)
    await ask(page)
    radio.closeLists(true)
    const { code } = await show()
    const other = await page.context().newPage()
    await other.goto(`${origin}/till`)
    const messages: string[] = []
    for (const tab of [page, other]) {
      await button(tab, 'Read the phone').click()
      const asked = tab.waitForResponse('**/in-person-request')
      await scan(tab, code)
      messages.push((await (await asked).json()).message)
    }
    expect(messages[0]).toBeString()
    expect(messages[1]).toBe(messages[0]!)
  })

  browserTest('P49: without a tap of the last seconds the list waits for one', async openPage => {
    const { page, show } = await openReading(openPage)
    await page.evaluate(() => Object.defineProperty(navigator.userActivation, 'isActive', { value: false }))
    await ask(page)
    await button(page, 'Read the phone').click()
    await scan(page, (await show()).code)
    await heading(page, 'Connect to the phone').waitFor()
    await button(page, 'Connect').click()
    await heading(page, 'Yes').waitFor()
  })
})

describe('a server that is away', () => {
  browserTest('P50: an answer is sent when it is back, recorded once, and a reload is warned of', async openPage => {
    const { page, show, read } = await openReading(openPage)
    await ask(page)
    await button(page, 'Read the phone').click()
    let isAway = true
    await page.route('**/in-person-response', async route => {
      if (isAway) return await route.abort()
      // It arrives, but its answer is lost.
      await route.fetch()
      await route.abort()
    })
    await page.route('**/v/*/data', route => (isAway ? route.abort() : route.continue()))
    await scan(page, (await show()).code)
    await page.getByText('The answer is read. It is sent when the server is back: do not close this page.').waitFor()
    await look(page, 'away')
    const warned = page.waitForEvent('dialog')
    page.reload().catch(() => {})
    const dialog = await warned
    expect(dialog.type()).toBe('beforeunload')
    await dialog.dismiss()
    isAway = false
    await wake(page)
    await heading(page, 'Yes').waitFor()
    expect((await read()).status).toBe('completed')
  })

  browserTest(
    'P50: an answer that reaches it after the deadline is lost, and the till says that nobody answered',
    async openPage => {
      const { app, page, show, read } = await openReading(openPage)
      await ask(page)
      await button(page, 'Read the phone').click()
      const held = Promise.withResolvers<void>()
      await page.route('**/in-person-response', async route => {
        await held.promise
        await route.continue()
      })
      const asked = page.waitForRequest('**/in-person-response')
      await scan(page, (await show()).code)
      await asked
      app.clock.advance(400_000)
      held.resolve()
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
      await heading(page, 'Expired').waitFor()
      expect((await read()).status).toBe('expired')
    },
  )

  browserTest('P50: a token that has expired is renewed between the message and the answer', async openPage => {
    const { app, page, show, read } = await openReading(openPage)
    // The token lives an hour, and the session five minutes.
    app.clock.advance(3_500_000)
    await ask(page)
    await button(page, 'Read the phone').click()
    const held = Promise.withResolvers<void>()
    await page.route('**/in-person-response', async route => {
      await held.promise
      await route.continue()
    })
    const asked = page.waitForRequest('**/in-person-response')
    await scan(page, (await show()).code)
    await asked
    app.clock.advance(150_000)
    held.resolve()
    await heading(page, 'Yes').waitFor()
    expect((await read()).status).toBe('completed')
  })
})

describe('a till that cannot read phones', () => {
  browserTest(
    'P51: there is no button for a template without mdoc, over plain http, or without Bluetooth in live',
    async openPage => {
      const sdJwt = { credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] } }] }
      const own = { key: 'sd_jwt_only', title: 'Only SD-JWT', purpose: 'To see', query: sdJwt }
      const { page } = await openTill(openPage, { templates: ['sd_jwt_only', 'age_over_18'], own: [own as never] })
      await ask(page, 'Only SD-JWT')
      expect(await button(page, 'Read the phone').count()).toBe(0)
      await page.addInitScript("Object.defineProperty(window, 'isSecureContext', { value: false })")
      await button(page, 'Stop this check').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Stop this check' }).click()
      await ask(page)
      await button(page, 'Read the phone').waitFor()
      await page.reload()
      await page.getByRole('img', { name: /QR code/ }).waitFor()
      expect(await button(page, 'Read the phone').count()).toBe(0)
      const live = await openTill(openPage, { live: true, templates: ['age_over_18'] })
      await live.page.addInitScript('delete Navigator.prototype.bluetooth')
      await live.page.reload()
      await button(live.page, 'Age 18 or over').click()
      await live.page.getByRole('img', { name: /QR code/ }).waitFor()
      expect(await button(live.page, 'Read the phone').count()).toBe(0)
    },
  )

  browserTest('a till asks in the ways that it was given, and hides the code where phones have no internet', async openPage => {
    const { app, tenantId, device, page } = await openTill(openPage, { templates: ['age_over_18'] })
    const owner = { tenantId, environment: 'test' } as const
    await changeDevice(app.deps, owner, device.id, { ways: ['in_person'] }, 'test')
    await page.reload()
    await button(page, 'Age 18 or over').click()
    await heading(page, 'Age 18 or over').waitFor()
    await button(page, 'Read the phone').waitFor()
    expect(await page.getByRole('img', { name: /QR code/ }).count()).toBe(0)
    expect(await page.getByRole('button', { name: /browser|simulated/ }).count()).toBe(0)
    await look(page, 'ways-in-person')
    await changeDevice(app.deps, owner, device.id, { ways: ['qr'] }, 'test')
    await page.reload()
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    expect(await page.getByRole('button', { name: /browser|simulated|phone/ }).count()).toBe(0)
  })

  browserTest('the check of the tablet says what it has, and what to do about what it lacks', async openPage => {
    const { page, radio } = await openReading(openPage)
    await radio.switch('absent')
    await button(page, 'Check this tablet').click()
    const check = page.getByRole('dialog', { name: 'Check this tablet' })
    await check.getByText('Good: Secure address').waitFor()
    await check.getByText('Missing: Bluetooth is on').waitFor()
    await check.getByText('Switch Bluetooth on, in the settings of this tablet.').waitFor()
    await look(page, 'check')
    await page.keyboard.press('Escape')
    await isFocused(button(page, 'Check this tablet'))
  })
})

test('P53: only the till, and the demo around it, may use Bluetooth; no page may run wasm', async () => {
  const { app } = await startShop()
  for (const path of ['/till', '/dashboard', '/sandbox', '/v/vs_anything', '/docs', '/nowhere']) {
    const { headers } = await app.call('GET', path, { headers: { accept: 'text/html' } })
    expect([path, headers.get('permissions-policy')?.match(/bluetooth=\(.*?\)/)?.[0]]).toEqual([
      path,
      path === '/till' ? 'bluetooth=(self)' : 'bluetooth=()',
    ])
    expect(headers.get('content-security-policy')).not.toContain('wasm')
  }
})
