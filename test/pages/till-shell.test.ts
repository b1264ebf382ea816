// The installed till: without its server, under a path, and across versions.
import { describe, expect, onTestFinished, test } from 'bun:test'
import { type TestApp, until } from '../helpers/app.ts'
import { browserTest, shoot } from '../helpers/browser.ts'
import { register } from '../helpers/devices.ts'
import { shareService, startAgain, startShop } from '../helpers/shop.ts'
import { answer, ask, button, heading, isIdle, openTill, UNREACHABLE, wake, walletUri } from '../helpers/till.ts'

shareService()

describe('the shell', () => {
  browserTest('the page opens without the server, says so, and caches only itself and its assets', async openPage => {
    const till = await openTill(openPage, { browser: { serviceWorkers: 'allow' }, service: {} })
    const { app, page } = till
    await answer(app, await ask(page, 'Name and date of birth'))
    await heading(page, 'Yes').waitFor()
    await button(page, 'Next customer').click()
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined))
    await until(() => page.evaluate(() => navigator.serviceWorker.controller !== null))
    const kept = await page.evaluate(async () => {
      const names = await caches.keys()
      const requests = await Promise.all(names.map(async name => (await caches.open(name)).keys()))
      return { names, paths: requests.flat().map(({ url }) => new URL(url).pathname) }
    })
    expect(kept.names).toHaveLength(1)
    expect(kept.paths.filter(path => path !== '/till' && !path.startsWith('/assets/'))).toEqual([])
    await app.stop()
    await page.reload()
    await isIdle(page)
    await page.getByText(UNREACHABLE).waitFor()
    await shoot(page, 'till-offline')
    await startAgain(till)
    await wake(page)
    await page.getByText('Connected').waitFor()
    await ask(page)
  })

  browserTest('the till works under the path that the service is published at', async openPage => {
    const { app, key } = await startShop()
    const { pairing_code } = await register(app, key)
    const { origin, stop } = publish(app)
    const { publicUrl } = app.deps.config
    app.deps.config.publicUrl = `${origin}/id`
    onTestFinished(() => {
      app.deps.config.publicUrl = publicUrl
    })
    const page = await openPage(origin)
    await page.goto(`/id/till#pair=${pairing_code}`)
    await button(page, 'Pair this till').click()
    await isIdle(page)
    const scope = await page.evaluate(async () => (await navigator.serviceWorker.ready).scope)
    expect(scope).toBe(`${origin}/id/till`)
    await ask(page)
    expect(page.complaints).toEqual([])
    await stop()
    await page.reload()
    await page.getByText(UNREACHABLE).waitFor()
  })

  browserTest('a new version is loaded between checks, and nothing of the old one is kept', async openPage => {
    const { app, key } = await startShop()
    const { pairing_code } = await register(app, key)
    const { origin, renew, stop } = publish(app)
    const page = await openPage(origin)
    await page.goto(`/id/till#pair=${pairing_code}`)
    await button(page, 'Pair this till').click()
    await isIdle(page)
    await until(() => page.evaluate(() => navigator.serviceWorker.controller !== null))
    await page.reload()
    await ask(page)
    let loads = 0
    page.on('load', () => {
      loads++
    })
    const isTaken = page.evaluate(() =>
      new Promise(resolve => navigator.serviceWorker.addEventListener('controllerchange', resolve)).then(() => true),
    )
    renew()
    await page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()))
    expect(await isTaken).toBe(true)
    const versions = async () => (await page.evaluate(() => caches.keys())).map(name => name.split(' ').at(-1))
    await until(async () => (await versions()).join() === 'next')
    await walletUri(page)
    expect(loads).toBe(0)
    await button(page, 'Stop this check').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop this check' }).click()
    await until(async () => loads === 1)
    await isIdle(page)
    // The proxy's origin is not that of the public URL, so the till may not ask wallets through the browser.
    expect(page.complaints.filter(each => !each.includes('403'))).toEqual([])
    await stop()
  })

  test('the service worker changes with the page, and its scope includes the page', async () => {
    const { app } = await startShop()
    const worker = await app.call('GET', '/till/service-worker.js')
    expect(worker.headers.get('content-type')).toStartWith('text/javascript')
    expect([worker.headers.get('service-worker-allowed'), worker.headers.get('cache-control')]).toEqual(['../till', 'no-cache'])
    const shell = JSON.parse(/^const SHELL = (.*)$/m.exec(worker.text)?.[1] ?? '') as { version: string; assets: string[] }
    expect(shell.version).toMatch(/^[0-9a-f]{16}$/)
    const page = await app.call('GET', '/till')
    for (const name of shell.assets) expect((await app.call('GET', `/assets/${name}`)).status).toBe(200)
    for (const [, name] of page.text.matchAll(/assets\/([\w.-]+)/g)) expect(shell.assets).toContain(name!)
  })

  browserTest('the page is installable: a browser accepts its manifest', async openPage => {
    const { page, app } = await openTill(openPage, { browser: { serviceWorkers: 'allow' } })
    const debuggee = await page.context().newCDPSession(page)
    await until(async () => (await debuggee.send('Page.getAppManifest')).url !== '')
    const { errors, data } = await debuggee.send('Page.getAppManifest')
    expect(errors).toEqual([])
    const { installabilityErrors } = await debuggee.send('Page.getInstallabilityErrors')
    // A headless browser with a private window reports only this.
    expect(installabilityErrors.map(({ errorId }) => errorId).filter(id => id !== 'in-incognito')).toEqual([])
    const { icons } = JSON.parse(data ?? '{}') as { icons: { src: string; sizes: string; purpose: string }[] }
    expect(icons.map(({ sizes, purpose }) => `${sizes} ${purpose}`)).toEqual([
      '192x192 any',
      '192x192 maskable',
      '512x512 any',
      '512x512 maskable',
    ])
    for (const { src, sizes } of icons) {
      const size = await page.evaluate(async url => {
        const image = await createImageBitmap(await (await fetch(url)).blob())
        return `${image.width}x${image.height}`
      }, `/till/${src}`)
      expect(size).toBe(sizes)
    }
    expect((await app.call('GET', '/till/icon-9999.png')).status).toBe(404)
    expect(page.complaints).toEqual([])
  })
})

/** A proxy that publishes a service under /id, and can serve a new version. */
function publish(app: TestApp): { origin: string; renew: () => void; stop: () => Promise<void> } {
  let isRenewed = false
  const proxy = Bun.serve({
    port: 0,
    fetch: async request => {
      const { pathname, search } = new URL(request.url)
      const answer = await fetch(`${app.url}${pathname.replace(/^\/id/, '')}${search}`, request)
      if (!isRenewed || !pathname.endsWith('service-worker.js')) return answer
      return new Response((await answer.text()).replace(/"version":"\w+"/, '"version":"next"'), answer)
    },
  })
  const renew = () => {
    isRenewed = true
  }
  return { origin: `http://localhost:${proxy.port}`, renew, stop: () => proxy.stop(true) }
}
