// The pages of a log-in, in a real browser: from the client's link to the way back.
import { describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import type { NewClient } from '../../src/oidc/schema.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { authorizePath, challengeOf, makeClient, newVerifier } from '../helpers/oidc.ts'
import { shareService, startShop } from '../helpers/shop.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

shareService()

const PKCE = { code_challenge: challengeOf(newVerifier()), code_challenge_method: 'S256' }

/** The program comes back to a page of this service, which is lost: its address is what counts. */
async function open(settings: Partial<NewClient> = {}) {
  const shop = await startShop()
  const callback = `${shop.origin}/callback-of-the-program`
  const party = await makeClient(
    { app: shop.app, tenant: shop.tenantId },
    { redirect_uris: [callback], name: 'Cellar', ...settings },
  )
  const path = (asked: Record<string, string> = {}) => authorizePath(party, { ...PKCE, redirect_uri: callback, ...asked })
  const arrived = async (page: Page) => {
    await page.waitForURL(`${callback}?**`)
    return Object.fromEntries(new URL(page.url()).searchParams)
  }
  return { ...shop, path, arrived }
}

describe('a log-in', () => {
  browserTest('asks in the name of the shop, and comes back by itself once the phone has answered', async openPage => {
    const { app, origin, path, arrived } = await open()
    const page = await openPage(origin)
    await page.goto(path())
    await page.getByText('to log in to Cellar').waitFor()
    await page.getByRole('link', { name: 'Back to Cellar without sharing' }).waitFor()
    await expectAccessible(page)
    const id = page.url().split('/').at(-1)!
    const { qr_uri = '' } = await page.evaluate(async url => (await fetch(url)).json(), `/v/${id}/data`)
    await answerWith(app, await holderOf(app), qr_uri)
    expect(await arrived(page)).toEqual({ code: expect.any(String), state: 'state-1', iss: expect.stringContaining('/oidc/') })
    expect(page.complaints.filter(each => !each.includes('404'))).toEqual([])
  })

  browserTest('can be given up', async openPage => {
    const { origin, path, arrived } = await open()
    const page = await openPage(origin)
    await page.goto(path())
    await page.getByRole('link', { name: 'Back to Cellar without sharing' }).click()
    expect(await arrived(page)).toMatchObject({
      error: 'access_denied',
      error_description: expect.stringMatching(/^cancelled: /),
    })
  })

  browserTest('in another browser is not asked for, and cannot be taken up', async openPage => {
    const { origin, path } = await open()
    const page = await openPage(origin)
    await page.goto(path())
    await page.getByText('to log in to Cellar').waitFor()
    const { return_url } = await page.evaluate(async url => (await fetch(url)).json(), `${new URL(page.url()).pathname}/data`)
    const other = await openPage(origin)
    await other.goto(page.url())
    await other.getByRole('heading', { name: 'This log-in was begun in another browser.' }).waitFor()
    expect(await other.getByRole('img', { name: /QR code/ }).count()).toBe(0)
    await expectAccessible(other)
    await shoot(other, 'login-foreign')
    await other.goto(new URL(return_url).pathname)
    await other.getByRole('heading', { name: 'This log-in was begun in another browser.' }).waitFor()
    await expectAccessible(other)
  })

  browserTest('without other devices shows no QR code, and speaks the language that the program asks for', async openPage => {
    const { origin, path } = await open({ cross_device: 'refused' })
    const page = await openPage(origin)
    await page.goto(path({ ui_locales: 'de' }))
    await page.getByText('zur Anmeldung bei Cellar').waitFor()
    await page.getByRole('button', { name: 'Mit Ihrer Wallet fortfahren' }).waitFor()
    expect(await page.getByText(/auf dem Telefon, das Ihre Wallet hat/).count()).toBe(0)
    expect(await page.getByRole('img', { name: /QR/ }).count()).toBe(0)
    await shoot(page, 'login-same-device')
    // A browser without the wallet call: the log-in has to begin on the phone.
    const old = await openPage(origin)
    await old.addInitScript('delete window.DigitalCredential')
    await old.goto(path({ ui_locales: 'de' }))
    await old.getByText('Öffnen Sie Cellar auf dem Telefon, das Ihre Wallet hat.').waitFor()
  })

  browserTest('of a client that is not known ends on a page that leads nowhere', async openPage => {
    const { origin, path } = await open()
    const page = await openPage(origin)
    const wrong: Record<string, string>[] = [{ client_id: 'oc_test_unknown' }, { redirect_uri: 'https://other.example/' }]
    for (const asked of wrong) {
      await page.goto(path(asked))
      await page.getByRole('heading', { name: 'This log-in does not work.' }).waitFor()
      expect(await page.getByRole('link').count()).toBe(0)
      await expectAccessible(page)
    }
  })
})
