// The sandbox as a phone that is read in person; the till is another page with a radio of its own.
import { describe, expect } from 'bun:test'
import { DeviceResponse } from '@owf/mdoc'
import { decodeCbor } from '../../src/sandbox/cbor.ts'
import { startApp, type TestApp } from '../helpers/app.ts'
import { browserTest, expectAccessible, type OpenPage, shoot, type WatchedPage } from '../helpers/browser.ts'
import { itemsRequest, readCode } from '../sandbox/foreign-reader.ts'

let shared: Promise<TestApp> | undefined
const service = () => {
  shared ??= startApp({ config: { publicUrl: '' } })
  return shared
}

const AV = 'eu.europa.ec.av.1'
const REQUEST = { version: '1.0', docRequests: [{ itemsRequest: itemsRequest(AV, { [AV]: ['age_over_18'] }) }] }

async function openPhone(openPage: OpenPage, fragment = ''): Promise<WatchedPage> {
  const page = await openPage((await service()).deps.config.publicUrl)
  await page.goto(`/sandbox${fragment}`)
  if (!fragment) await page.getByRole('button', { name: 'Show in person' }).click()
  await page.getByRole('img', { name: 'Code for a till' }).waitFor()
  return page
}

const codeOf = async (page: WatchedPage): Promise<string> => (await page.getByText(/^mdoc:/).textContent()) ?? ''

/** Another page connects, sends the message, and collects what is notified until the last chunk or the phone's end. */
async function startTill(page: WatchedPage, code: string, message: Uint8Array) {
  const { publicUrl } = (await service()).deps.config
  const till = await page.context().newPage()
  await till.goto(`${publicUrl}/healthz`)
  const [[, , options]] = readCode(code).members.get(2) as [[number, number, Map<number, Uint8Array>]]
  const uuid = Buffer.from(options.get(10)!)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  await till.evaluate(
    async ({ uuid, bytes }) => {
      const channel = new BroadcastChannel(`vidimus-ble ${uuid}`)
      const link = 'one'
      const chunks: number[][] = []
      const connected = Promise.withResolvers<number>()
      const answered = Promise.withResolvers<{ mtu: number; chunks: number[][]; ended: boolean }>()
      const say = (message: object) => channel.postMessage({ ...message, link })
      channel.onmessage = ({ data }) => {
        if (data.type === 'connected') connected.resolve(data.mtu)
        if (data.type !== 'notify') return
        if (data.from === 'server2client') chunks.push([...data.value])
        const ended = data.from === 'state'
        if (ended || data.value[0] === 0) connected.promise.then(mtu => answered.resolve({ mtu, chunks, ended }))
      }
      Object.assign(window, { answered: answered.promise, say })
      say({ type: 'connect' })
      const mtu = await connected.promise
      say({ type: 'subscribe', to: 'state' })
      say({ type: 'subscribe', to: 'server2client' })
      say({ type: 'write', to: 'state', value: Uint8Array.of(1) })
      for (let at = 0; at < bytes.length; at += mtu - 4) {
        const isLast = at + mtu - 4 >= bytes.length
        say({ type: 'write', to: 'client2server', value: Uint8Array.of(isLast ? 0 : 1, ...bytes.slice(at, at + mtu - 4)) })
      }
    },
    { uuid, bytes: [...message] },
  )
  type Answered = { mtu: number; chunks: number[][]; ended: boolean }
  return {
    answered: () => till.evaluate(() => (window as unknown as { answered: Promise<Answered> }).answered),
    leave: () => till.evaluate(() => (window as unknown as { say: (message: object) => void }).say({ type: 'disconnect' })),
  }
}

const joined = (chunks: number[][]): Buffer => Buffer.concat(chunks.map(([, ...payload]) => Buffer.from(payload)))

describe('the sandbox in person', () => {
  browserTest('a code is shown, the reader is asked about, and the answer is sent in chunks', async openPage => {
    const page = await openPhone(openPage)
    await shoot(page, 'sandbox-in-person')
    await expectAccessible(page)
    const session = readCode(await codeOf(page))
    const till = await startTill(page, await codeOf(page), session.establish(REQUEST))
    await page.getByRole('heading', { name: 'An unknown reader asks for a proof' }).waitFor()
    expect(await page.locator('.shared').textContent()).toContain('18 or over')
    await shoot(page, 'sandbox-in-person-asked')
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const { mtu, chunks } = await till.answered()
    expect(mtu).toBe(247)
    expect([chunks.length > 3, Math.max(...chunks.map(({ length }) => length))]).toEqual([true, 244])
    const { documents } = DeviceResponse.decode(Uint8Array.from(session.open(joined(chunks))))
    expect(documents!.map(({ docType }) => docType)).toEqual([AV])
    await page.getByRole('heading', { name: 'The till has your answer' }).first().waitFor()
    expect(await page.getByRole('region', { name: 'What happened' }).textContent()).toContain(AV)
    await expectAccessible(page)
    expect(page.complaints).toEqual([])
  })

  browserTest('a holder who declines closes the session', async openPage => {
    const page = await openPhone(openPage)
    const code = await codeOf(page)
    const till = await startTill(page, code, readCode(code).establish(REQUEST))
    await page.getByRole('button', { name: 'Do not share' }).click()
    expect(decodeCbor(joined((await till.answered()).chunks))).toEqual(new Map([['status', 20]]))
    await page.getByRole('heading', { name: 'You closed the request' }).first().waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('a request that the phone cannot open is told to the till, and shown', async openPage => {
    const page = await openPhone(openPage)
    const code = await codeOf(page)
    const till = await startTill(page, code, readCode(code).establish({ version: '3.0' }))
    await page.getByText('the version of the DeviceRequest is unknown').waitFor()
    expect(decodeCbor(joined((await till.answered()).chunks))).toEqual(new Map([['status', 20]]))
    expect(page.complaints).toEqual([])
  })

  browserTest('choices make another code, with another size of chunks', async openPage => {
    const page = await openPhone(openPage)
    await page.getByText('Choices for developers').click()
    const choose = async (name: string, value: string) => {
      const before = await codeOf(page)
      await page.getByRole('combobox', { name }).selectOption(value)
      await page.getByText(before).waitFor({ state: 'detached' })
    }
    await choose('Version of the code', '1.1')
    await choose('Size of a packet (MTU)', '23')
    const code = await codeOf(page)
    const session = readCode(code)
    expect([session.members.get(0), session.members.get(6)]).toEqual(['1.1', new Map([[4, true]])])
    const till = await startTill(page, code, session.establish(REQUEST))
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const { chunks } = await till.answered()
    expect(Math.max(...chunks.map(({ length }) => length))).toBe(20)
    expect(session.open(joined(chunks)).length).toBeGreaterThan(500)
    expect(page.complaints).toEqual([])
  })

  browserTest('a till that goes away before the answer makes the phone show a new code', async openPage => {
    const page = await openPhone(openPage)
    const code = await codeOf(page)
    const till = await startTill(page, code, readCode(code).establish(REQUEST))
    await page.getByRole('button', { name: 'Share', exact: true }).waitFor()
    await till.leave()
    await page.getByRole('img', { name: 'Code for a till' }).waitFor()
    expect(await codeOf(page)).not.toBe(code)
    expect(page.complaints).toEqual([])
  })

  browserTest('a page of the service opens the code for a persona that shares by itself', async openPage => {
    const page = await openPhone(openPage, '#in_person&persona=minor&share=now')
    const code = await codeOf(page)
    const session = readCode(code)
    const till = await startTill(page, code, session.establish(REQUEST))
    const response = session.open(joined((await till.answered()).chunks))
    expect(session.proofOf(response)).toBe('deviceSignature')
    expect(page.complaints).toEqual([])
  })
})
