// Pages of one test after the other are in the same process of the browser, and have nothing in common.
import { afterAll, expect } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { browserTest, expectAccessible } from './browser.ts'

const html = { 'content-type': 'text/html', 'set-cookie': 'seen=1', 'cache-control': 'max-age=3600' }
const requests: string[] = []
const server = Bun.serve({
  port: 0,
  fetch(request) {
    requests.push(new URL(request.url).pathname)
    return new Response('<!doctype html>', { headers: html })
  },
})
afterAll(() => server.stop(true))

const origin = `http://localhost:${server.port}`
let before: BrowserContext | undefined

const leftIn = (page: Page) =>
  page.evaluate(async () => ({
    local: localStorage.length,
    session: sessionStorage.length,
    databases: (await indexedDB.databases()).length,
    caches: (await caches.keys()).length,
    clipboard: (await navigator.permissions.query({ name: 'clipboard-read' as PermissionName })).state,
    opener: globalThis.opener === null,
    history: history.length,
  }))

browserTest('a page has cookies, stores, a cached file and a permission', async openPage => {
  const page = await openPage(origin)
  await page.goto('/first')
  await page.context().grantPermissions(['clipboard-read'])
  await page.evaluate(async () => {
    localStorage.setItem('a', '1')
    sessionStorage.setItem('a', '1')
    await caches.open('a')
    await new Promise(opened => Object.assign(indexedDB.open('a'), { onsuccess: opened }))
    await fetch('/cached')
  })
  expect(await leftIn(page)).toMatchObject({ local: 1, session: 1, databases: 1, caches: 1, clipboard: 'granted' })
  before = page.context()
})

browserTest('the page of the next test finds none of them', async openPage => {
  const page = await openPage(origin)
  expect(page.context()).toBe(before!)
  expect(await page.context().cookies()).toEqual([])
  await page.goto('/second')
  expect(await leftIn(page)).toEqual({
    local: 0,
    session: 0,
    databases: 0,
    caches: 0,
    clipboard: 'prompt',
    opener: true,
    history: 1,
  })
  await page.evaluate(() => fetch('/cached'))
  expect(requests.filter(path => path === '/cached')).toHaveLength(2)
})

browserTest('two pages of a test have nothing in common', async openPage => {
  const [page, other] = await Promise.all([openPage(origin), openPage(origin)])
  await Promise.all([page.goto('/one'), other.goto('/two')])
  expect(page.context()).not.toBe(other.context())
  await page.evaluate(() => localStorage.setItem('a', '1'))
  expect(await leftIn(other)).toMatchObject({ local: 0 })
})

browserTest('a page holds its clock', async openPage => {
  const page = await openPage(origin)
  await page.clock.install()
  before = page.context()
})

browserTest('no page of the next test has that clock', async openPage => {
  const pages = await Promise.all([openPage(origin), openPage(origin)])
  expect(pages.map(page => page.context())).not.toContain(before!)
})

const PALE = 'main, dialog { background: white } @media (prefers-color-scheme: dark) { dialog p { color: #eee } }'

browserTest('a fault in a modal dialog is told, one behind it is not, and both themes are looked at', async openPage => {
  const page = await openPage(origin)
  await page.goto('/third')
  const lookAt = async (dialog: string, act: string) => {
    await page.evaluate(
      ([style, dialog, act]) => {
        document.documentElement.lang = 'en'
        document.title = 'A page'
        document.body.innerHTML = `<style>${style}</style><main><h1>A page</h1><input><dialog aria-label="Ask">${dialog}</dialog></main>`
        document.querySelector('dialog')?.[act as 'show' | 'showModal']()
      },
      [PALE, dialog, act],
    )
    return await expectAccessible(page).then(
      () => 'nothing',
      ({ message }: Error) => message.match(/(light|dark): [\w-]+/g)?.join(),
    )
  }
  expect(await lookAt('<button>Yes</button>', 'showModal')).toBe('nothing')
  expect(await lookAt('<button>Yes</button>', 'show')).toBe('light: label')
  expect(await lookAt('<button></button>', 'showModal')).toBe('light: button-name')
  expect(await lookAt('<p>Are you sure?</p><button>Yes</button>', 'showModal')).toBe('dark: color-contrast')
})
