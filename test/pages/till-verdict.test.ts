// The verdict on the till.
import { describe, expect, onTestFinished } from 'bun:test'
import { createStatusChecker } from '../../src/openid4vp/status/list.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { NOON, until } from '../helpers/app.ts'
import { browserTest } from '../helpers/browser.ts'

import { shareService } from '../helpers/shop.ts'
import { answer, ask, button, heading, isIdle, keptBy, look, openTill, walletUri } from '../helpers/till.ts'

shareService()

const LICENCE = 'org.iso.18013.5.1'
const TASTING = {
  key: 'tasting',
  title: 'Wine tasting',
  query: {
    credentials: [
      {
        id: 'mdl',
        format: 'mso_mdoc' as const,
        meta: { doctype_value: `${LICENCE}.mDL` },
        claims: [{ path: [LICENCE, 'age_over_21'] }],
      },
    ],
  },
}

describe('the verdict', () => {
  browserTest("a yes without the issuer's newest list says as of when the list was", async openPage => {
    const { app, page } = await openTill(openPage)
    const { issuer } = await app.deps.sandbox()
    const { status } = app.deps
    onTestFinished(() => {
      app.deps.status = status
    })
    let isUp = true
    app.deps.status = createStatusChecker(
      async () =>
        isUp
          ? { ok: true, contentType: 'application/statuslist+jwt', body: Buffer.from(await issuer.statusListToken(NOON)) }
          : { ok: false, reason: 'it did not answer' },
      app.deps.now,
      { maxAgeMs: 24 * 3_600_000, allowHttp: () => true },
    )
    await answer(app, await ask(page), 'adult')
    await heading(page, 'Yes').waitFor()
    expect(await page.getByText(/against the list of/).isVisible()).toBe(false)
    await button(page, 'Next customer').click()
    await isIdle(page)
    isUp = false
    app.clock.advance(10 * 60_000)
    await answer(app, await ask(page), 'adult')
    await heading(page, 'Yes').waitFor()
    expect(await page.getByText(/^Checked .* · against the list of .*12:00 · issued by Sandbox/).isVisible()).toBe(true)
  })

  browserTest('a yes shows the proof and the issuer, and is dismissed with one tap', async openPage => {
    const { app, page } = await openTill(openPage, { browser: { timezoneId: 'Asia/Tokyo' } })
    await answer(app, await ask(page))
    await heading(page, 'Yes').waitFor()
    expect(await page.getByText('18 or over.', { exact: true }).isVisible()).toBe(true)
    // The service's clock is at noon UTC.
    expect(await page.getByText(/^Checked 21:00 · issued by Sandbox/).isVisible()).toBe(true)
    expect(await heading(page, 'Yes').evaluate(element => getComputedStyle(element).fontSize)).toBe('96px')
    expect(await page.locator('[aria-live=assertive]').textContent()).toBe('Yes. 18 or over.')
    expect(await page.title()).toBe('Yes. 18 or over. · Till 1')
    await look(page, 'yes')
    await button(page, 'Next customer').click()
    await isIdle(page)
    expect(Object.keys((await keptBy(page)).check as object)).toEqual(['key', 'template', 'id', 'shownAt', 'isPutAway'])
    expect(page.complaints).toEqual([])
  })

  browserTest('the German "Ja" fits on a phone', async openPage => {
    const { app, page } = await openTill(openPage)
    const uri = await ask(page)
    await page.getByRole('button', { name: 'Deutsch' }).click()
    await page.setViewportSize({ width: 390, height: 844 })
    await answer(app, uri)
    await heading(page, 'Ja').waitFor()
    const word = await heading(page, 'Ja').boundingBox()
    const sentence = await page.locator('.sentence').boundingBox()
    // A J of 96 px reaches a fifth of that below its line.
    expect((sentence?.y ?? 0) - ((word?.y ?? 0) + 96)).toBeGreaterThanOrEqual(16)
    await look(page, 'ja')
  })

  browserTest('a yes is light and a no is dark, and both fill the screen', async openPage => {
    const { app, page } = await openTill(openPage)
    const luminance = () =>
      page.locator('.till').evaluate(element => {
        const [red = 0, green = 0, blue = 0] = getComputedStyle(element)
          .backgroundColor.match(/[\d.]+/g)!
          .map(part => {
            const share = Number(part) / 255
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
          })
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
      })
    await answer(app, await ask(page))
    await heading(page, 'Yes').waitFor()
    const yes = await luminance()
    await button(page, 'Next customer').click()
    await answer(app, await ask(page), 'minor')
    await heading(page, 'No').waitFor()
    // As text on a ground: 3 to 1 (WCAG 2.2 § 1.4.11).
    expect((yes + 0.05) / ((await luminance()) + 0.05)).toBeGreaterThan(3)
  })

  browserTest('a driving licence fits 1024 x 768: name, birth date and classes, the rest folded', async openPage => {
    const { app, page } = await openTill(openPage, {
      templates: ['driving_licence'],
      browser: { viewport: { width: 1024, height: 768 } },
    })
    await answer(app, await ask(page, 'Driving licence'))
    await button(page, 'Same person').click()
    await heading(page, 'Yes').waitFor()
    expect(await page.locator('.facts > dl > div > dt').allTextContents()).toEqual([
      'Family name',
      'Given names',
      'Date of birth',
      'May drive',
    ])
    for (const part of [page.locator('h1'), page.locator('.facts'), page.locator('.foot')]) {
      const box = (await part.boundingBox())!
      expect([box.x >= 0, box.y >= 0, box.x + box.width <= 1024, box.y + box.height <= 768]).toEqual(Array(4).fill(true))
    }
    expect(await page.locator('main').evaluate(main => main.scrollHeight <= main.clientHeight)).toBe(true)
    await look(page, 'licence')
    await page.getByText('About the document').click()
    await page.getByText('Document number').waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('an own template without rules is a no when a good document denies the age', async openPage => {
    const { app, page } = await openTill(openPage, { templates: ['tasting'], own: [{ ...TASTING, rules: [] }] })
    await answer(app, await ask(page, TASTING.title), 'minor')
    await heading(page, 'No').waitFor()
    expect(await page.getByText('claim_not_satisfied').isVisible()).toBe(true)
    expect(await heading(page, 'Yes').count()).toBe(0)
    await button(page, 'Next customer').click()
    await answer(app, await ask(page, TASTING.title))
    await heading(page, 'Yes').waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('an own rule that requires a denied age makes it a yes', async openPage => {
    const youth = { ...TASTING, rules: [{ claim: 'age_over_21', is: false }] }
    const { app, page } = await openTill(openPage, { templates: ['tasting'], own: [youth] })
    await answer(app, await ask(page, TASTING.title), 'minor')
    await heading(page, 'Yes').waitFor()
    await button(page, 'Next customer').click()
    await answer(app, await ask(page, TASTING.title))
    await heading(page, 'No').waitFor()
    expect(page.complaints).toEqual([])
  })

  browserTest('requested claims are shown and not stored', async openPage => {
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
    ['minor', 'Not proven to be 18 or over.', 'claim_not_satisfied'],
    ['untrusted_issuer', 'its issuer is not on your list.', 'issuer_untrusted'],
  ] as const) {
    browserTest(`a no shows its reason in words and its code: ${code}`, async openPage => {
      const { app, page } = await openTill(openPage)
      await answer(app, await ask(page), persona)
      await heading(page, 'No').waitFor()
      expect(await page.locator('.sentence').textContent()).toEndWith(sentence)
      expect(await page.locator('code').textContent()).toBe(code)
      expect(await page.locator('.advice').textContent()).not.toBe('')
      expect(await page.content()).not.toMatch(/Mustermann|data:image/)
      if (persona === 'minor') await look(page, 'no-minor')
      await button(page, 'Start again').click()
      await walletUri(page)
      expect(page.complaints).toEqual([])
    })
  }

  browserTest('a customer who declines is neither a no nor an error, and can be asked again', async openPage => {
    const { app, page } = await openTill(openPage)
    await answer(app, await ask(page), 'declines')
    await heading(page, 'Declined').waitFor()
    expect(await page.locator('.sentence').textContent()).toBe('The customer chose not to share.')
    expect(await page.locator('.verdict').getAttribute('class')).toBe('verdict neutral')
    expect(await page.locator('.verdict code').count()).toBe(0)
    await look(page, 'declined')
    await button(page, 'Start again').click()
    await walletUri(page)
    expect(page.complaints).toEqual([])
  })

  browserTest('an expired check is neither, and can be repeated with one tap', async openPage => {
    const { app, key, page } = await openTill(openPage)
    await page.clock.install({ time: app.clock.now() })
    await page.reload()
    await ask(page, 'Age 18 or over, with photo')
    app.clock.advance(300_000)
    await page.clock.fastForward(310_000)
    await heading(page, 'Expired').waitFor()
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
    'a verdict survives a reload for its 20 seconds; afterwards it is shown on request, with its age',
    async openPage => {
      const { app, page } = await openTill(openPage)
      await page.clock.install({ time: app.clock.now() })
      await page.reload()
      await answer(app, await ask(page))
      await heading(page, 'Yes').waitFor()
      await page.clock.runFor(8000)
      await page.reload()
      await heading(page, 'Yes').waitFor()
      await page.clock.runFor(13_000)
      await isIdle(page)
      expect(await page.getByText('18 or over.', { exact: true }).count()).toBe(0)
      app.clock.advance(141_000)
      await page.clock.runFor(120_000)
      await page.reload()
      await isIdle(page)
      await button(page, 'Show the last result').click()
      await heading(page, 'Yes').waitFor()
      await page.getByText('Result from 2 min ago').waitFor()
      await look(page, 'restored')
      await button(page, 'Next customer').click()
      await isIdle(page)
      await button(page, 'Show the last result').click()
      await heading(page, 'Yes').waitFor()
      await button(page, 'Next customer').click()
      await isIdle(page)
      await ask(page)
      await button(page, 'Stop this check').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Stop this check' }).click()
      await isIdle(page)
      expect(await button(page, 'Show the last result').count()).toBe(0)
      expect(page.complaints).toEqual([])
    },
  )

  browserTest('a till that is opened long after the answer came is idle', async openPage => {
    const { app, page } = await openTill(openPage)
    await page.clock.install({ time: app.clock.now() })
    await page.reload()
    const uri = await ask(page)
    await page.goto('about:blank')
    await answer(app, uri)
    app.clock.advance(40_000)
    await page.clock.runFor(40_000)
    await page.addInitScript(() => {
      const note = () => document.querySelector('.verdict') && Object.assign(globalThis, { hasSeenVerdict: true })
      new MutationObserver(note).observe(document, { childList: true, subtree: true })
    })
    const opensIdle = async () => {
      await page.goto('/till')
      await button(page, 'Show the last result').waitFor()
      expect(await page.evaluate(() => 'hasSeenVerdict' in globalThis)).toBe(false)
    }
    await opensIdle()
    await button(page, 'Show the last result').click()
    await heading(page, 'Yes').waitFor()
    await page.getByText(/Result from [45]\d s ago/).waitFor()
    // Seen, and left open when the page was closed.
    await page.goto('about:blank')
    app.clock.advance(40_000)
    await page.clock.runFor(40_000)
    await opensIdle()
    expect(page.complaints).toEqual([])
  })

  browserTest('an erased session ends the check', async openPage => {
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
  browserTest('the till is in German', async openPage => {
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

  browserTest('a verdict sounds only when the sound is on', async openPage => {
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
    await until(async () => (await tones()).length === 2)
    expect(await tones()).toEqual([330, 220])
    expect(page.complaints).toEqual([])
  })

  browserTest('the till is dark until light is chosen, whatever the system says', async openPage => {
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
