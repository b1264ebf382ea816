// The till as staff see it. Lost answers, tokens and an absent server are in till-recovery.test.ts.
import { describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import decodeQR from 'qr/decode.js'
import type { Verification } from '../../src/verifications/schema.ts'
import { until } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { deviceOf, register, rows } from '../helpers/devices.ts'
import { answer, ask, button, heading, isIdle, keptBy, openTill, SHOP, startShop, walletUri } from '../helpers/till.ts'
import { fetchOf } from '../helpers/wallet.ts'

/** In both themes of its own: the system's does not count. */
async function look(page: Page, name: string): Promise<void> {
  for (const theme of ['dark', 'light']) {
    await page.evaluate(chosen => {
      document.documentElement.dataset.theme = chosen
    }, theme)
    await expectAccessible(page)
    await shoot(page, `till-${name}-${theme}`)
  }
  await page.evaluate(() => {
    document.documentElement.dataset.theme = 'dark'
  })
}

describe('pairing', () => {
  browserTest('by a code that is typed, forgiving as the server is, with one tap', async openPage => {
    const { app, origin, key } = await startShop()
    const { device, pairing_code } = await register(app, key)
    const page = await openPage(origin)
    await page.goto('/till')
    await heading(page, 'Pair this till').waitFor()
    await look(page, 'pair')
    await page.getByLabel('Pairing code').fill(pairing_code.toLowerCase().replaceAll('-', ' '))
    await page.keyboard.press('Enter')
    await isIdle(page)
    expect((await deviceOf(app, key, device.id)).status).toBe('active')
    expect(await page.getByText(`Till 1 ${SHOP}`).isVisible()).toBe(true)
    await page.reload()
    await isIdle(page)
    expect(page.complaints).toEqual([])
  })

  browserTest('by the link of the QR code, whose code leaves the address at once', async openPage => {
    const { app, origin, key } = await startShop()
    const { pairing_code } = await register(app, key)
    const page = await openPage(origin)
    await page.goto(`/till#pair=${pairing_code}`)
    await button(page, 'Pair this till').waitFor()
    expect(await page.getByLabel('Pairing code').inputValue()).toBe(pairing_code)
    expect(page.url()).toBe(`${origin}/till`)
    // The button has the focus: one tap, or one key.
    await page.keyboard.press('Enter')
    await isIdle(page)
    expect(page.complaints).toEqual([])
  })

  browserTest('with a wrong code says so, and an incomplete one is not sent', async openPage => {
    const { origin } = await startShop()
    const page = await openPage(origin, { serviceWorkers: 'block' })
    const sent: string[] = []
    page.on('request', request => sent.push(new URL(request.url()).pathname))
    await page.goto('/till')
    await page.getByLabel('Pairing code').fill('VD-7K3M')
    await button(page, 'Pair this till').click()
    await page.getByText('That is no whole code').first().waitFor()
    expect(sent).not.toContain('/v1/devices/enroll')
    await page.getByLabel('Pairing code').fill('VD-7K3M-9QZX')
    await button(page, 'Pair this till').click()
    await page.locator('.problem', { hasText: 'This code is wrong, was used before, or is too old.' }).waitFor()
    expect(page.complaints).toEqual([expect.stringContaining('400')])
    await look(page, 'pair-wrong')
    expect(await keptBy(page)).toEqual({})
  })

  browserTest('after too many wrong codes says when to try again', async openPage => {
    const { app, origin } = await startShop({ rateLimitScale: 1 })
    for (let i = 0; i < 10; i++) await app.call('POST', '/v1/devices/enroll', { body: { pairing_code: 'VD-0000-0000' } })
    const page = await openPage(origin)
    await page.goto('/till#pair=VD-7K3M-9QZX')
    await button(page, 'Pair this till').click()
    await page.locator('.problem', { hasText: 'Too many wrong codes. Try again in 0:12.' }).waitFor()
  })

  browserTest('a second link replaces the pairing only when somebody says so', async openPage => {
    const { app, key, page, device } = await openTill(openPage)
    const other = await register(app, key, { name: 'Till 2' })
    await page.goto(`/till#pair=${other.pairing_code}`)
    await page.getByText('This device is already paired, as Till 1.').waitFor()
    await button(page, 'Keep Till 1').click()
    await isIdle(page)
    await page.evaluate(code => {
      location.hash = `pair=${code}`
    }, other.pairing_code)
    await button(page, 'Pair this till').click()
    await page.getByText(`Till 2 ${SHOP}`).waitFor()
    expect([(await deviceOf(app, key, device.id)).status, (await deviceOf(app, key, other.device.id)).status]).toEqual([
      'active',
      'active',
    ])
    expect(page.complaints).toEqual([])
  })
})

describe('idle', () => {
  browserTest(
    'has one large button for each template in their order; one that does not exist yet cannot be pressed',
    async openPage => {
      const { page } = await openTill(openPage)
      const buttons = page.locator('.template')
      expect(await buttons.locator('.name').allTextContents()).toEqual([
        'Age 18 or over',
        'Age 18 or over, with photo',
        'Name and date of birth',
        'of_tomorrow',
      ])
      expect(await buttons.nth(3).isDisabled()).toBe(true)
      for (const each of await page.getByRole('button').all()) {
        const { height } = (await each.boundingBox()) ?? { height: 0 }
        expect(height).toBeGreaterThanOrEqual(64)
      }
      expect(await page.getByText('Test: only sandbox documents count here.').isVisible()).toBe(true)
      expect(await page.getByText('Connected').isVisible()).toBe(true)
      await look(page, 'idle')
      expect(page.complaints).toEqual([])
    },
  )

  browserTest('every button asks for its own template', async openPage => {
    const { app, key, page } = await openTill(openPage)
    for (const [title, template] of [
      ['Age 18 or over', 'age_over_18'],
      ['Age 18 or over, with photo', 'age_over_18_photo'],
      ['Name and date of birth', 'identity_basic'],
    ] as const) {
      await ask(page, title)
      const { body } = await app.call<{ data: Verification[] }>('GET', '/v1/verifications?limit=1', { key })
      expect(body.data[0]?.template).toBe(template)
      await stopCheck(page)
    }
  })

  browserTest('says so when the checks of the day are used up', async openPage => {
    const { app, page } = await openTill(openPage)
    const [{ id }] = rows<{ id: string }>(app.dir, 'SELECT id FROM tenants') as [{ id: string }]
    const { changeTenant } = await import('../../src/tenants/settings.ts')
    await changeTenant(app.deps, id, { dailyQuota: 0 }, 'test')
    await button(page, 'Age 18 or over').click()
    await page.getByRole('alert').getByText("Today's checks are used up.").waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('quota_exceeded')
    await look(page, 'idle-refused')
  })

  browserTest('in the live environment nothing says test', async openPage => {
    const { page } = await openTill(openPage, { live: true })
    await button(page, 'Age 18 or over').click()
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    expect(await page.getByText('sandbox').count()).toBe(0)
  })
})

describe('asking', () => {
  browserTest(
    'shows a code that a camera reads, the purpose, and the time that is left by the clock of the server',
    async openPage => {
      const { page } = await openTill(openPage)
      const uri = await ask(page)
      // The test's clock and the browser's are months apart.
      expect(await page.getByRole('timer').textContent()).toMatch(/^(5:00|4:[45]\d)$/)
      expect(await page.getByText('To check that you are 18 or over').isVisible()).toBe(true)
      expect(uri).toStartWith('openid4vp://')
      expect(await readCode(page)).toBe(uri)
      await look(page, 'asking')
      expect(page.complaints).toEqual([])
    },
  )

  for (const [width, height] of [
    [390, 844],
    [844, 390],
    [820, 1180],
    [1180, 820],
    [1440, 900],
  ] as const) {
    browserTest(
      `at ${width}x${height} the whole code is on the screen, white, and nothing goes over the edge`,
      async openPage => {
        const { page } = await openTill(openPage, { browser: { viewport: { width, height } } })
        await ask(page)
        const box = (await page.getByRole('img', { name: /QR code/ }).boundingBox())!
        expect(box.x).toBeGreaterThanOrEqual(0)
        expect(box.y).toBeGreaterThanOrEqual(0)
        expect(box.x + box.width).toBeLessThanOrEqual(width)
        expect(box.y + box.height).toBeLessThanOrEqual(height)
        expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(Math.min(width, height) * 0.5)
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      },
    )
  }

  browserTest('says that it was scanned, once a wallet has the request, and shows the code again when asked', async openPage => {
    const { app, page } = await openTill(openPage)
    const uri = await ask(page)
    await fetchOf(app)(new URL(uri).searchParams.get('request_uri')!, {})
    await heading(page, "Waiting for the customer's consent").waitFor()
    expect(await page.getByRole('img', { name: /QR code/ }).count()).toBe(0)
    await look(page, 'scanned')
    await page.reload()
    await heading(page, "Waiting for the customer's consent").waitFor()
    await button(page, 'Show the code again').click()
    expect(await walletUri(page)).toBe(uri)
    await answer(app, uri)
    await heading(page, 'Yes').waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('is not stopped by one tap, nor by a key, nor by a reload', async openPage => {
    const { app, page } = await openTill(openPage)
    const uri = await ask(page)
    await button(page, 'Stop this check').click()
    await page.getByRole('dialog', { name: 'Stop this check?' }).waitFor()
    await look(page, 'stop')
    await button(page, 'Keep waiting').click()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('1')
    await page.reload()
    expect(await walletUri(page)).toBe(uri)
    expect(rows(app.dir, 'SELECT id FROM verification_sessions')).toHaveLength(1)
    await stopCheck(page)
    expect(await keptBy(page)).not.toHaveProperty('check')
    expect(page.complaints).toEqual([])
  })
})

describe('the verdict', () => {
  browserTest('is a yes that says what was proven and by whom, and goes with one tap', async openPage => {
    const { app, page } = await openTill(openPage)
    await answer(app, await ask(page))
    await heading(page, 'Yes').waitFor()
    expect(await page.getByText('18 or over.', { exact: true }).isVisible()).toBe(true)
    expect(await page.getByText(/^Checked \d+:00.* · issued by Sandbox/).isVisible()).toBe(true)
    expect(await heading(page, 'Yes').evaluate(element => getComputedStyle(element).fontSize)).toBe('96px')
    expect(await page.locator('[aria-live=assertive]').textContent()).toBe('Yes. 18 or over.')
    expect(await page.title()).toBe('Yes. 18 or over. · Till 1')
    await look(page, 'yes')
    await button(page, 'Next customer').click()
    await isIdle(page)
    expect(await keptBy(page)).not.toHaveProperty('check')
    expect(page.complaints).toEqual([])
  })

  browserTest('shows the photo to compare, and of an age nothing else', async openPage => {
    const { app, page } = await openTill(openPage)
    await answer(app, await ask(page, 'Age 18 or over, with photo'))
    await heading(page, 'Yes').waitFor()
    const photo = page.getByRole('img', { name: 'Photo from the document' })
    await until(() => photo.evaluate(image => (image as HTMLImageElement).naturalWidth > 0))
    expect(await page.getByText('Compare this photo with the face.').isVisible()).toBe(true)
    expect(await page.locator('.facts').count()).toBe(0)
    await look(page, 'yes-photo')
    expect(page.complaints).toEqual([])
  })

  browserTest('shows claims that were asked for, and leaves none of them behind', async openPage => {
    const { app, page } = await openTill(openPage)
    await answer(app, await ask(page, 'Name and date of birth'))
    await heading(page, 'Yes').waitFor()
    expect(await page.locator('.facts dt, .facts dd').allTextContents()).toEqual([
      'Family name',
      'Mustermann',
      'Given names',
      'Erika',
      'Date of birth',
      'August 12, 1990',
    ])
    await look(page, 'yes-claims')
    expect(JSON.stringify(await keptBy(page))).not.toMatch(/Mustermann|Erika|1990/)
    await button(page, 'Next customer').click()
    await isIdle(page)
    expect(await page.content()).not.toMatch(/Mustermann|Erika|1990/)
    expect(await page.title()).not.toMatch(/Mustermann/)
    expect(JSON.stringify(await page.evaluate(() => ({ ...localStorage, ...sessionStorage })))).not.toMatch(
      /Mustermann|Erika|1990/,
    )
  })

  for (const [persona, sentence, code] of [
    ['minor', 'The age is not proven.', 'claim_not_satisfied'],
    ['declines', 'The customer chose not to share.', 'wallet_declined'],
    ['untrusted_issuer', 'its issuer is not on your list.', 'issuer_untrusted'],
  ] as const) {
    browserTest(`is a no with the reason in words and the code beside: ${code}`, async openPage => {
      const { app, page } = await openTill(openPage)
      await answer(app, await ask(page), persona)
      await heading(page, 'No').waitFor()
      expect(await page.locator('.sentence').textContent()).toEndWith(sentence)
      expect(await page.locator('code').textContent()).toBe(code)
      expect(await page.locator('.advice').textContent()).not.toBe('')
      expect(await page.content()).not.toMatch(/Mustermann|data:image/)
      if (persona !== 'untrusted_issuer') await look(page, `no-${persona}`)
      await button(page, 'Start again').click()
      await walletUri(page)
      expect(page.complaints).toEqual([])
    })
  }

  browserTest('is neither when the time is up, and the same check starts again with one tap', async openPage => {
    const { app, key, page } = await openTill(openPage)
    await ask(page, 'Age 18 or over, with photo')
    app.clock.advance(300_000)
    await heading(page, 'Time is up').waitFor()
    await look(page, 'time-up')
    await button(page, 'Start again').click()
    await walletUri(page)
    const { body } = await app.call<{ data: Verification[] }>('GET', '/v1/verifications', { key })
    expect(body.data.map(({ template, status }) => [template, status])).toEqual([
      ['age_over_18_photo', 'pending'],
      ['age_over_18_photo', 'expired'],
    ])
    expect(page.complaints).toEqual([])
  })

  browserTest(
    'outlasts reloads, makes room after 20 seconds, and can be shown again until somebody has seen it',
    async openPage => {
      const { app, page } = await openTill(openPage)
      await page.clock.install()
      await answer(app, await ask(page))
      for (let i = 0; i < 2; i++) {
        await heading(page, 'Yes').waitFor()
        await page.clock.runFor(19_000)
        await page.reload()
      }
      await heading(page, 'Yes').waitFor()
      await page.clock.runFor(21_000)
      await isIdle(page)
      expect(await page.getByText('18 or over.', { exact: true }).count()).toBe(0)
      await page.reload()
      await button(page, 'Show the last result').click()
      await heading(page, 'Yes').waitFor()
      await button(page, 'Next customer').click()
      await isIdle(page)
      expect(await button(page, 'Show the last result').count()).toBe(0)
      expect(page.complaints).toEqual([])
    },
  )

  browserTest('of a session that was erased is not waited for', async openPage => {
    const { app, key, page } = await openTill(openPage)
    await answer(app, await ask(page))
    await heading(page, 'Yes').waitFor()
    const { id } = (await keptBy(page)).check as { id: string }
    await app.call('DELETE', `/v1/verifications/${id}`, { key })
    await page.reload()
    await isIdle(page)
    expect(await keptBy(page)).not.toHaveProperty('check')
  })
})

describe('staff', () => {
  browserTest('can do all of it by keyboard', async openPage => {
    const { app, page } = await openTill(openPage)
    await page.keyboard.press('3')
    await answer(app, await walletUri(page))
    await heading(page, 'Yes').waitFor()
    await page.keyboard.press('Enter')
    await isIdle(page)
    await page.keyboard.press('1')
    await answer(app, await walletUri(page), 'minor')
    await heading(page, 'No').waitFor()
    await page.keyboard.press('Escape')
    await isIdle(page)
    // Nothing is there under this digit: the fourth template does not exist yet.
    await page.keyboard.press('4')
    await isIdle(page)
    expect(rows(app.dir, 'SELECT id FROM verification_sessions')).toHaveLength(2)
    expect(page.complaints).toEqual([])
  })

  browserTest('can read it in German', async openPage => {
    const { app, page } = await openTill(openPage)
    await button(page, 'Deutsch').click()
    await heading(page, 'Was möchten Sie prüfen?').waitFor()
    await page.reload()
    await look(page, 'idle-german')
    await button(page, 'Ab 18 Jahren').click()
    await heading(page, 'Mit Ihrer Wallet scannen').waitFor()
    expect(await page.getByText('Um zu prüfen, ob Sie mindestens 18 Jahre alt sind').isVisible()).toBe(true)
    const link = await page.getByRole('link', { name: 'Mit der Sandbox-Wallet antworten' }).getAttribute('href')
    await answer(app, decodeURIComponent(link!.split('wallet_uri=')[1]!), 'untrusted_issuer')
    await heading(page, 'Nein').waitFor()
    expect(await page.locator('.sentence').textContent()).toBe(
      'Der Ausweis ist lesbar, aber sein Aussteller steht nicht auf Ihrer Liste.',
    )
    await look(page, 'no-german')
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
    expect(page.complaints).toEqual([])
  })

  browserTest('hear a verdict only when they want to', async openPage => {
    const { app, page } = await openTill(openPage)
    await page.addInitScript(() => {
      const tones: number[] = []
      Object.assign(globalThis, { tones })
      const start = OscillatorNode.prototype.start
      OscillatorNode.prototype.start = function (this: OscillatorNode, at?: number) {
        tones.push(this.frequency.value)
        start.call(this, at)
      }
    })
    await page.reload()
    const tones = () => page.evaluate(() => (globalThis as unknown as { tones: number[] }).tones)
    await answer(app, await ask(page))
    await heading(page, 'Yes').waitFor()
    expect(await tones()).toEqual([])
    await button(page, 'Next customer').click()
    await button(page, 'Sound').click()
    await page.reload()
    expect(await button(page, 'Sound').getAttribute('aria-pressed')).toBe('true')
    await answer(app, await ask(page), 'minor')
    await heading(page, 'No').waitFor()
    expect(await tones()).toEqual([330, 220])
    expect(page.complaints).toEqual([])
  })

  browserTest('have it dark, whatever the system says, until they choose otherwise', async openPage => {
    const { page } = await openTill(openPage, { browser: { colorScheme: 'light' } })
    const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    expect(await paper()).toBe('rgb(18, 20, 26)')
    await button(page, 'Light screen').click()
    await until(async () => (await paper()) === 'rgb(247, 246, 242)')
    await page.reload()
    await isIdle(page)
    expect(await paper()).toBe('rgb(247, 246, 242)')
  })
})

async function stopCheck(page: Page): Promise<void> {
  await button(page, 'Stop this check').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop this check' }).click()
  await isIdle(page)
}

const READ_PX = 400

/** Reads the code as a camera would: from its pixels. */
async function readCode(page: Page): Promise<string> {
  const png = await page.getByRole('img', { name: /QR code/ }).screenshot()
  const data = await page.evaluate(
    async ({ base64, side }) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))]))
      const context = new OffscreenCanvas(side, side).getContext('2d')!
      context.drawImage(image, 0, 0, side, side)
      return [...context.getImageData(0, 0, side, side).data]
    },
    { base64: png.toString('base64'), side: READ_PX },
  )
  return decodeQR({ width: READ_PX, height: READ_PX, data: Uint8Array.from(data) })
}
