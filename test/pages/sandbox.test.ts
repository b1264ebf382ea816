import { describe, expect } from 'bun:test'
import { PERSONAS } from '../../src/sandbox/personas.ts'
import type { HostedVerification, Verification } from '../../src/verifications/schema.ts'
import { createVerification, startApp, type TestApp } from '../helpers/app.ts'
import { browserTest, expectAccessible, type OpenPage, shoot, type WatchedPage } from '../helpers/browser.ts'

let shared: Promise<{ app: TestApp; key: string; liveKey: string }> | undefined

/** One service for all tests of this file. */
const service = () => {
  shared ??= startApp({ config: { publicUrl: '' } }).then(async app => ({ app, ...(await app.tenant({ name: 'Corner shop' })) }))
  return shared
}

async function openSandbox(openPage: OpenPage, walletUri = '', options: Parameters<OpenPage>[1] = {}): Promise<WatchedPage> {
  const { app } = await service()
  const page = await openPage(app.deps.config.publicUrl, options)
  await page.goto(`/sandbox${walletUri && `#wallet_uri=${encodeURIComponent(walletUri)}`}`)
  return page
}

/** A persona is chosen by keyboard: a click would go to where the choice was while the page still moves. */
async function choose(page: WatchedPage, title: string): Promise<void> {
  await page.getByRole('radio', { name: title, exact: true }).press('Space')
  await page.locator('.persona.chosen .persona-title').filter({ hasText: title }).waitFor()
}

/** The sheet of a request takes the focus when it opens. */
const untilAsked = (page: WatchedPage): Promise<void> => page.getByRole('heading').and(page.locator(':focus')).waitFor()

async function ask(body: object = {}): Promise<Verification & { wallet_uri: string }> {
  const { app, key } = await service()
  const verification = await createVerification(app, key, body)
  return { ...verification, wallet_uri: verification.wallet_uri ?? '' }
}

async function read(id: string): Promise<Verification> {
  const { app, key } = await service()
  return (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body
}

const phone = (page: WatchedPage) => page.getByRole('region', { name: 'The wallet' })
const happened = (page: WatchedPage) => page.getByRole('region', { name: 'What happened' })
const share = (page: WatchedPage) => page.getByRole('button', { name: 'Share', exact: true }).click()

describe('every persona', () => {
  for (const { id, title, expects } of Object.values(PERSONAS)) {
    browserTest(`persona ${id} ends as announced on the page`, async openPage => {
      const asked = await ask({ purpose: 'To sell you wine' })
      const page = await openSandbox(openPage, asked.wallet_uri)
      await untilAsked(page)
      await choose(page, title.en)
      expect(await page.locator('.persona.chosen').textContent()).toContain(expects === 'completed' ? 'Expect a yes.' : expects)
      await phone(page).getByRole('heading', { name: 'Corner shop asks for a proof' }).waitFor()
      if (id === 'declines') {
        await page.getByRole('button', { name: 'Do not share' }).click()
        await page.getByRole('heading', { name: 'Declined', exact: true }).waitFor()
      } else {
        await share(page)
        await page.getByRole('heading', { name: id === 'adult' ? 'Verified' : 'Refused' }).waitFor()
      }
      const { status, error } = await read(asked.id)
      expect([status, error?.code]).toEqual(expects === 'completed' ? ['completed', undefined] : ['failed', expects])
      expect(page.complaints).toEqual([])
    })
  }
})

describe('a request', () => {
  browserTest('a request is shown with its purpose and claims, then the answer and the response', async openPage => {
    const asked = await ask({
      template: 'identity_basic',
      purpose: 'To open an account',
      redirect_url: 'https://shop.example/done',
    })
    const page = await openSandbox(openPage, asked.wallet_uri)
    await phone(page).getByRole('heading', { name: 'Corner shop asks for a proof' }).waitFor()
    expect(await phone(page).textContent()).toContain('To open an account')
    await phone(page).getByText('You would share').waitFor()
    expect(await phone(page).locator('.shared').textContent()).toMatch(
      /EU personal ID SD-JWT VC\s*Family name\s*Given names\s*Date of birth/,
    )
    expect(await happened(page).textContent()).toContain('To open an account')
    await shoot(page, 'sandbox-consent')
    await expectAccessible(page)

    await share(page)
    await phone(page).getByRole('heading', { name: 'Verified' }).waitFor()
    await happened(page).getByText('It may read: Family name, Given names, Date of birth.').waitFor()
    expect(await happened(page).getByRole('heading').allTextContents()).toEqual([
      'What happened',
      'What the shop learned',
      'Request received',
      'Sent',
      'The service answered',
    ])
    expect(
      await happened(page)
        .getByText(/x509_hash/)
        .first()
        .isVisible(),
    ).toBe(false)
    const told = await happened(page).textContent()
    expect(told).toMatch(/x509_hash:[\w-]{43}/)
    expect(told).toContain('"family_name": "Mustermann"')
    expect(told).toContain('"birthdate": "1990-08-12"')
    expect(told).not.toContain('Heidestra')
    expect(told).toContain('HTTP 200')
    expect(await page.getByRole('link', { name: 'Continue' }).getAttribute('href')).toMatch(
      /^https:\/\/shop\.example\/done#response_code=/,
    )
    await shoot(page, 'sandbox-done')
    await expectAccessible(page)
    expect(page.complaints).toEqual([])
  })

  browserTest("a request from the hosted page's QR code is answered, and the redirect is left to that page", async openPage => {
    for (const template of ['age_over_18', 'eu_av_age_18']) {
      const asked = await ask({ template, redirect_url: 'https://shop.example/done' })
      const { app } = await service()
      const { body } = await app.call<HostedVerification>('GET', `/v/${asked.id}/data`)
      const page = await openSandbox(openPage, body.qr_uri ?? '')
      await share(page)
      await phone(page).getByRole('heading', { name: 'Verified' }).waitFor()
      expect(await page.getByRole('link', { name: 'Continue' }).count()).toBe(0)
      expect(page.complaints).toEqual([])
    }
  })

  browserTest('a cancelled request is shown as stopped, not as answered', async openPage => {
    const asked = await ask()
    const { app, key } = await service()
    await app.call('POST', `/v1/verifications/${asked.id}/cancel`, { key })
    const page = await openSandbox(openPage, asked.wallet_uri)
    await phone(page).getByRole('heading', { name: 'This request was stopped.' }).waitFor()
  })

  browserTest('a request by value is answered, unencrypted as requested', async openPage => {
    const asked = await ask({ template: 'eu_av_age_18' })
    const page = await openSandbox(openPage, asked.wallet_uri)
    await share(page)
    await phone(page).getByRole('heading', { name: 'Verified' }).waitFor()
    expect(await happened(page).textContent()).toContain('"age_over_18": true')
    expect(await happened(page).textContent()).toContain('Not encrypted')
    expect((await read(asked.id)).status).toBe('completed')
  })

  browserTest('a request can be pasted by keyboard alone', async openPage => {
    const asked = await ask()
    const page = await openSandbox(openPage)
    await phone(page).getByText('Erika Mustermann').waitFor()
    await page.getByLabel('Answer a request').focus()
    await page.keyboard.insertText(`  ${asked.wallet_uri}\n`)
    await page.keyboard.press('Enter')
    await phone(page).getByText('You would share').waitFor()
    // The title of the sheet has the focus; the buttons follow.
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toBe('Do not share')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await phone(page).getByRole('heading', { name: 'Verified' }).waitFor()
    await page.getByRole('button', { name: 'Back to the documents' }).click()
    expect(await phone(page).getByRole('listitem').count()).toBe(5)
  })

  browserTest('a request in the address is removed from it, and another can follow on the open page', async openPage => {
    const [first, second] = [await ask(), await ask()]
    const page = await openSandbox(openPage, first.wallet_uri)
    await phone(page).getByText('You would share').waitFor()
    expect(new URL(page.url()).hash).toBe('')
    await page.evaluate(uri => {
      location.hash = `wallet_uri=${encodeURIComponent(uri)}&persona=minor`
    }, second.wallet_uri)
    await phone(page).getByText('Leon Mustermann').waitFor({ state: 'attached' })
    await share(page)
    await phone(page).getByRole('heading', { name: 'Refused' }).waitFor()
    expect([(await read(first.id)).status, (await read(second.id)).error?.code]).toEqual(['pending', 'claim_not_satisfied'])
  })

  browserTest('a request can be declined without sharing anything', async openPage => {
    const asked = await ask()
    const page = await openSandbox(openPage, asked.wallet_uri)
    await page.getByRole('button', { name: 'Do not share' }).click()
    await phone(page).getByRole('heading', { name: 'Declined', exact: true }).waitFor()
    expect(await happened(page).textContent()).toContain('access_denied')
    const { error, credentials } = await read(asked.id)
    expect([error?.code, credentials]).toEqual(['wallet_declined', undefined])
  })

  browserTest('a request that no document fits can only be declined', async openPage => {
    const meta = { vct_values: ['urn:example:membership'] }
    const query = { credentials: [{ id: 'card', format: 'dc+sd-jwt', meta, claims: [{ path: ['number'] }] }] }
    const asked = await ask({ template: undefined, query })
    const page = await openSandbox(openPage, asked.wallet_uri)
    await phone(page).getByText('None of these documents answers the request.').waitFor()
    expect(await page.getByRole('button', { name: 'Share', exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Do not share' }).click()
    await phone(page).getByRole('heading', { name: 'Declined', exact: true }).waitFor()
  })

  browserTest('altered claims are shown beside the signed ones', async openPage => {
    const asked = await ask({ template: 'identity_basic' })
    const page = await openSandbox(openPage, asked.wallet_uri)
    await untilAsked(page)
    await choose(page, 'Tampered claim')
    await share(page)
    await happened(page).getByText('Not what the issuer signed').waitFor()
    expect(await happened(page).textContent()).toContain('"family_name": "Mustermannx"')
    await shoot(page, 'sandbox-tampered')
    await expectAccessible(page)
  })
})

describe('the sandbox explains why it cannot answer', () => {
  const tells = async (openPage: OpenPage, walletUri: string, title: string) => {
    const page = await openSandbox(openPage, walletUri)
    await phone(page).getByRole('heading', { name: title }).waitFor()
    return page
  }

  browserTest('the sandbox refuses a request of another service, and does not contact it', async openPage => {
    const foreign =
      'openid4vp://authorize?client_id=x509_hash%3Aabc&request_uri=https%3A%2F%2Fother.example%2Fwallet%2Frequest%2Fvs_1'
    const page = await tells(openPage, foreign, 'This wallet only answers this service.')
    expect(await phone(page).textContent()).toContain('other.example')
    const { app } = await service()
    // An address that only begins like ours is refused too.
    const alike = `openid4vp://authorize?client_id=x&request_uri=${encodeURIComponent(`${app.deps.config.publicUrl}.evil.example/wallet/request/vs_1`)}`
    const other = await tells(openPage, alike, 'This wallet only answers this service.')
    expect([...page.complaints, ...other.complaints]).toEqual([])
    await shoot(page, 'sandbox-foreign')
    await expectAccessible(page)
  })

  browserTest('the sandbox says when a text is no request', async openPage => {
    await tells(openPage, 'https://example.com/', 'This is not a request.')
    const german = await openSandbox(openPage, 'https://example.com/', { locale: 'de-DE' })
    await german.getByText('Der Link nennt keine client_id.').waitFor()
    expect(await german.getByText('names no client_id').count()).toBe(0)
  })

  browserTest('the sandbox says when a session is unknown', async openPage => {
    const { wallet_uri, id } = await ask()
    const page = await tells(openPage, wallet_uri.replace(id, 'vs_0000000000000000000000'), 'There is no such request.')
    expect(page.complaints).toEqual([expect.stringContaining('404')])
  })

  browserTest('the sandbox says when a session was answered before', async openPage => {
    const { wallet_uri } = await ask()
    const page = await openSandbox(openPage, wallet_uri)
    await share(page)
    await phone(page).getByRole('heading', { name: 'Verified' }).waitFor()
    await tells(openPage, wallet_uri, 'This request was answered.')
  })

  browserTest('the sandbox says when a session was answered elsewhere in the meantime', async openPage => {
    const { wallet_uri } = await ask()
    const slow = await openSandbox(openPage, wallet_uri)
    await phone(slow).getByText('You would share').waitFor()
    const quick = await openSandbox(openPage, wallet_uri)
    await share(quick)
    await phone(quick).getByRole('heading', { name: 'Verified' }).waitFor()
    await share(slow)
    await phone(slow).getByRole('heading', { name: 'The service did not take it.' }).waitFor()
    expect(await phone(slow).textContent()).toContain('Somebody answered this request before.')
    expect(await happened(slow).textContent()).toContain('session_already_responded')
  })

  browserTest('the sandbox says when a session has expired', async openPage => {
    const { wallet_uri } = await ask({ ttl_seconds: 60 })
    const { app } = await service()
    app.clock.advance(61_000)
    await tells(openPage, wallet_uri, 'This request has expired.')
  })

  browserTest('the sandbox refuses a live session, which stays as it was', async openPage => {
    const { app, liveKey } = await service()
    const { id, wallet_uri } = await createVerification(app, liveKey)
    const page = await tells(openPage, wallet_uri ?? '', 'This is a live request.')
    expect((await app.call<Verification>('GET', `/v1/verifications/${id}`, { key: liveKey })).body.status).toBe('pending')
    expect((await app.call<{ fetched: boolean }>('GET', `/v/${id}/data`)).body.fetched).toBe(false)
    expect(page.complaints).toEqual([])
  })
})

browserTest('the sandbox is in German', async openPage => {
  const asked = await ask()
  const page = await openSandbox(openPage, asked.wallet_uri, { locale: 'de-DE' })
  await page.getByText('Sie würden teilen').waitFor()
  expect(await page.locator('main').textContent()).toContain('Dass Sie')
  await untilAsked(page)
  await choose(page, 'Minderjährig')
  await page.getByRole('button', { name: 'Teilen', exact: true }).click()
  await page.getByRole('heading', { name: 'Abgelehnt' }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
  await shoot(page, 'sandbox-german')
  expect(page.complaints).toEqual([])
})

browserTest("documents have their seal, and the holder's key never leaves the page", async openPage => {
  const { app } = await service()
  const page = await openPage(app.deps.config.publicUrl)
  const bodies: string[] = []
  page.on('request', request => bodies.push(request.postData() ?? ''))
  await page.goto('/sandbox')
  for (const [title, seal] of [
    ['Adult', 'verified'],
    ['Expired', 'expired'],
    ['Revoked', 'refused'],
  ] as const) {
    await choose(page, title)
    await phone(page).locator(`.document .seal.${seal}`).first().waitFor()
    expect(await phone(page).locator(`.document .seal.${seal}`).count()).toBe(5)
  }
  const keys = bodies.filter(Boolean).map(body => JSON.parse(body).holder_key)
  expect(keys.map(key => Object.keys(key).sort())).toEqual(Array(3).fill(['crv', 'kty', 'x', 'y']))
  expect(new Set(keys.map(({ x }) => x)).size).toBe(3)
  await shoot(page, 'sandbox-home')
  await expectAccessible(page)
  expect(page.complaints).toEqual([])
})

browserTest('the page says what to do without a secure context', async openPage => {
  const { app } = await service()
  const page = await openPage(app.deps.config.publicUrl)
  await page.addInitScript(() => Object.defineProperty(window, 'isSecureContext', { value: false }))
  await page.goto('/sandbox')
  await page.getByText('Open this page as http://localhost').waitFor()
  expect(page.complaints).toEqual([])
})
