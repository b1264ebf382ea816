// Every page, in every state that a person can meet. A scene may take several pictures.
import type { Locator, Page } from 'playwright-core'
import type { TrustSource } from '../../src/dashboard/settings/trust/schema.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import type { HostedVerification } from '../../src/verifications/schema.ts'
import type { Scene, Stage } from './stage.ts'

const TEMPLATES = ['age_over_18', 'age_over_18_photo', 'identity_basic', 'driving_licence', 'parcel']

const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true })
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name })

/** A list whose operator has announced its next signer. */
const SOURCE: TrustSource = {
  id: 'list',
  environment: 'live',
  kind: 'lote',
  use: 'issuers',
  label: 'PID providers',
  preset: null,
  location: 'https://lists.example/pid.jwt',
  types: null,
  counts_for: ['urn:eudi:pid:1'],
  service_type: null,
  mode: null,
  every_seconds: 3600,
  grace_seconds: 604_800,
  name: 'PID providers',
  state: 'fresh',
  sequence: 41,
  issued_at: '2026-11-01T00:00:00Z',
  next_update: '2027-05-01T00:00:00Z',
  ends_at: '2027-05-08T00:00:00Z',
  digest: 'ab'.repeat(32),
  signer: '3f'.repeat(32),
  accepted_at: '2026-11-02T00:00:00Z',
  entries: 27,
  withdrawn: 1,
  skipped: {},
  difference: null,
  checked_at: '2026-11-19T00:00:00Z',
  failure: null,
  pins: ['3f', 'c4'].map(byte => ({
    fingerprint: byte.repeat(32),
    subject: `CN=List signer ${byte}`,
    not_after: '2028-01-01T00:00:00Z',
    added_at: '2026-11-02T00:00:00Z',
  })),
  announced: [],
  created_at: '2026-11-02T00:00:00Z',
}

export const SCENES: Readonly<Record<string, Scene>> = {
  async hosted(stage) {
    const { page, words, create, shoot } = stage
    const { id } = await create({ template: 'age_over_18', purpose: 'Red wine, 0.75 l' })
    await page.goto(`/v/${id}`)
    await page.getByRole('img', { name: words.hosted.qrLabel }).waitFor({ state: 'attached' })
    await shoot('hosted-asking')
    await page.getByText(words.hosted.noWallet).click()
    await shoot('hosted-no-wallet')
    const whole = await create({ template: 'driving_licence' })
    await page.goto(`/v/${whole.id}`)
    await page.getByText(words.claims.driving_privileges ?? '').waitFor()
    await shoot('hosted-licence')
  },

  async 'hosted-more'(stage) {
    const { page, words, create, shoot } = stage
    const { id } = await create({ template: 'age_over_18' })
    // A real query of so many ways would list hundreds before.
    await page.route('**/data', async route => {
      const response = await route.fetch()
      const shown = (await response.json()) as HostedVerification
      const shares = shown.shares.map(share => ({ ...share, more: { count: 380, documents: ['org.iso.18013.5.1.mDL'] } }))
      await route.fulfill({ response, json: { ...shown, shares } })
    })
    await page.goto(`/v/${id}`)
    await page.getByText(words.hosted.moreWays(380)).waitFor()
    await shoot('hosted-more')
  },

  async 'hosted-ended'(stage) {
    const { page, words, verify, create, call, shoot } = stage
    const ends = {
      adult: words.hosted.thanks(words.outcomeNames.completed),
      minor: words.hosted.failed.not_accepted.title,
      declines: words.hosted.declined,
    } as const
    for (const [persona, title] of Object.entries(ends)) {
      const { id } = await verify(persona as PersonaId)
      await page.goto(`/v/${id}`)
      await heading(page, title).waitFor()
      await shoot(`hosted-${persona}`)
    }
    const back = await create({ template: 'age_over_18', redirect_url: 'https://shop.example/back' })
    await page.goto(`/v/${back.id}`)
    await page.getByRole('img', { name: words.hosted.qrLabel }).waitFor({ state: 'attached' })
    await call('POST', `/v1/verifications/${back.id}/cancel`)
    await heading(page, words.hosted.stopped).waitFor()
    await shoot('hosted-cancelled')
    await page.goto('/v/vs_0000000000000000000000')
    await heading(page, words.hosted.gone).waitFor()
    await shoot('hosted-gone')
  },

  async sandbox(stage) {
    const { page, words, create, shoot } = stage
    await page.goto('/sandbox')
    await page.getByText(words.sandbox.documentStates.valid, { exact: true }).waitFor()
    await shoot('sandbox-documents')
    const { wallet_uri } = await create({ template: 'age_over_18', purpose: 'Red wine, 0.75 l' })
    await page.goto(`/sandbox#${new URLSearchParams({ wallet_uri })}`)
    await button(page, words.sandbox.share).waitFor()
    await shoot('sandbox-consent')
    await button(page, words.sandbox.share).click()
    await heading(page, words.outcomeNames.completed).waitFor()
    await shoot('sandbox-accepted')
    // Only a new page reads the same address again.
    await page.goto('about:blank')
    await page.goto(`/sandbox#${new URLSearchParams({ wallet_uri })}`)
    await heading(page, words.sandbox.problems.answered.title).waitFor()
    await shoot('sandbox-answered')
    await page.goto('/sandbox?dc')
    await heading(page, words.sandbox.problems.unasked.title).waitFor()
    await shoot('sandbox-dc-unasked')
  },

  async 'sandbox-dc'(stage) {
    const { page, words, shoot } = stage
    await page.goto('/demo')
    const shop = page.getByRole('region', { name: words.demo.shop.title, exact: true })
    await button(shop, words.demo.online.buy).click()
    await shop.locator('vidimus-verify').getByRole('button').first().waitFor()
    await shoot('demo-shop')
    const { id } = await stage.create({ template: 'age_over_18' })
    await page.goto(`/v/${id}`)
    const simulate = button(page, words.hosted.trySandboxBrowser)
    const opened = page.waitForEvent('popup')
    await simulate.click()
    const wallet = await opened
    await button(wallet, words.sandbox.share).waitFor()
    await shoot('sandbox-dc-consent', wallet)
    await shoot('hosted-dc-waiting')
  },

  async demo(stage) {
    const { page, words, shoot } = stage
    await page.goto('/demo')
    await button(page, words.demo.steps.ask.press).waitFor()
    await page.frameLocator('.phone iframe').getByText(words.sandbox.documentStates.valid, { exact: true }).waitFor()
    await shoot('demo-begin')
    await button(page, words.demo.steps.ask.press).click()
    await button(page, words.demo.steps.scan.press).waitFor()
    await page.frameLocator('.till iframe').getByRole('img', { name: words.till.qrLabel }).waitFor()
    await shoot('demo-scan')
    await button(page, words.demo.steps.scan.press).click()
    const phone = page.frameLocator('.phone iframe')
    await phone.getByRole('button', { name: words.sandbox.share, exact: true }).click()
    await button(page, words.demo.steps.erase.press).first().waitFor()
    await page.frameLocator('.till iframe').getByText(words.till.yes, { exact: true }).first().waitFor({ state: 'attached' })
    await shoot('demo-accepted')
    await button(page, words.demo.steps.erase.press).first().click()
    await page.getByText(words.demo.steps.cheat.say).waitFor()
    await page.getByRole('button', { name: words.demo.cheats.minor }).click()
    await page.getByText('claim_not_satisfied').first().waitFor()
    await page.frameLocator('.till iframe').getByText(words.till.no, { exact: true }).first().waitFor({ state: 'attached' })
    await shoot('demo-cheated')
  },

  async till(stage) {
    const { page, words, shoot } = stage
    await page.goto('/till')
    await heading(page, words.till.pairTitle).waitFor()
    await shoot('till-pairing')
    await pairTill(stage)
    await shoot('till-idle')
    await shootVerdict(stage, 0, 'adult', words.till.yes, 'till-yes')
    await shootVerdict(stage, 0, 'untrusted_issuer', words.till.no, 'till-no')
    await shootVerdict(stage, 0, 'declines', words.outcomeNames.wallet_declined, 'till-declined')
    await shootVerdict(stage, 3, 'adult', words.till.yes, 'till-licence')
    await shootVerdict(stage, 2, 'adult', words.till.yes, 'till-identity')
  },

  async 'till-asking'(stage) {
    const { page, words, shoot, create } = stage
    await create()
    await pairTill(stage)
    await page.locator('.idle button').first().click()
    await page.getByRole('img', { name: words.till.qrLabel }).waitFor()
    await shoot('till-asking')
    await fetchRequest(stage, await walletUri(page))
    await page.getByText(words.till.scanned).first().waitFor()
    await shoot('till-scanned')
    await button(page, words.till.stop).click()
    await page.getByRole('dialog').waitFor()
    await shoot('till-stop')
  },

  async 'till-photo'(stage) {
    const { page, words, shoot, answer } = stage
    await pairTill(stage)
    await page.locator('.idle button').nth(1).click()
    await answer(await walletUri(page))
    await button(page, words.till.samePerson).waitFor()
    await shoot('till-compare')
    await button(page, words.outcomeNames.not_same_person).click()
    await button(page, words.till.takeBack).waitFor()
    await shoot('till-take-back')
    await page.locator('.verdict.no').waitFor()
    await shoot('till-other-person')
  },

  async entrance(stage) {
    const { page, words, shoot, settle, asOwner } = stage
    // Until somebody has set up the dashboard, nobody can log in.
    await asOwner('/dashboard')
    await page.goto('/dashboard')
    await settle(page)
    await shoot('dashboard-login')
    await page.route('**/dashboard/api/login', route =>
      route.fulfill({
        json: { ticket: 'x', expires_at: new Date(Date.now() + 300_000).toISOString(), has_codes: true, passkey: null },
      }),
    )
    await page.getByLabel(words.entrance.name, { exact: true }).fill('olivia')
    await page.locator('input[type=password]').fill('whatever it is, 15')
    await button(page, words.entrance.login).click()
    await heading(page, words.entrance.secondStep).waitFor()
    await shoot('dashboard-second-step')
    await button(page, words.entrance.useRecovery).click()
    await shoot('dashboard-recovery')
  },

  async dashboard(stage) {
    const { asOwner, shoot, verify } = stage
    const done = await verify('adult', { template: 'pid_mandatory', metadata: { order: '2026-0117' } })
    const refused = await verify('untrusted_issuer', { template: 'age_over_18', metadata: { order: '2026-0118' } })
    const declined = await verify('declines')
    const views = {
      overview: '',
      verifications: '/verifications',
      'verification-done': `/verifications/${done.id}`,
      'verification-refused': `/verifications/${refused.id}`,
      'verification-declined': `/verifications/${declined.id}`,
      keys: '/keys',
      devices: '/devices',
      templates: '/templates',
      template: '/templates/age_over_18',
      webhooks: '/webhooks',
      trust: '/trust',
      'trust-live': '/trust?environment=live',
      'verifications-live': '/verifications?environment=live',
      'go-live': '/go-live',
      audit: '/audit',
      settings: '/settings',
      profile: '/settings/profile',
      people: '/settings/people',
      security: '/settings/security',
      installation: '/settings/installation',
      health: '/settings/health',
      nowhere: '/nowhere',
    }
    for (const [name, path] of Object.entries(views)) {
      if (stage.isWanted(`dashboard-${name}`)) await shoot(`dashboard-${name}`, await asOwner(`/dashboard${path}`))
    }
  },

  async 'dashboard-dialogs'(stage) {
    const { words, asOwner, shoot } = stage
    const dialogs: [name: string, path: string, button: string][] = [
      ['create-key', '/keys', words.keys.create],
      ['register', '/devices', words.devices.register],
      ['try', '/verifications', words.verifications.tryIt],
      ['add-list', '/trust', words.trust.lists.add],
      ['add-issuer', '/trust', words.trust.add],
      ['block', '/trust', words.trust.blocks.add],
      ['invite', '/settings/people', words.people.invite],
      ['codes', '/settings/security', words.security.addCodes],
      ['test-event', '/webhooks', words.webhooks.test],
    ]
    for (const [name, path, label] of dialogs) {
      if (!stage.isWanted(`dashboard-${name}`) && !stage.isWanted('dashboard-dialogs')) continue
      const page = await asOwner(`/dashboard${path}`)
      await button(page, label).first().click()
      await page.locator('dialog[open], [role=dialog], .saved, .notice').first().waitFor()
      await shoot(`dashboard-${name}`, page)
    }
  },

  async 'dashboard-locks'(stage) {
    const { words, asOwner, shoot } = stage
    const page = await asOwner('/dashboard')
    const until = new Date(Date.now() + 840_000).toISOString()
    await page.route('**/pairing-locks', route => route.fulfill({ json: { data: [{ id: 'lock', locked_until: until }] } }))
    await asOwner('/dashboard/devices')
    await button(page, words.devices.lift).waitFor()
    await shoot('dashboard-devices-locked', page)
    await page.unroute('**/pairing-locks')
  },

  async 'dashboard-signers'(stage) {
    const { words, asOwner, shoot } = stage
    const { lists } = words.trust
    const page = await asOwner('/dashboard')
    await page.route('**/trust/sources', route => route.fulfill({ json: { data: [SOURCE], presets: [] } }))
    await asOwner('/dashboard/trust?environment=live')
    await shoot('dashboard-trust-list', page)
    await page.getByRole('button', { name: lists.signers }).click()
    await shoot('dashboard-signers', page)
    await page.getByRole('dialog').getByRole('button', { name: lists.unpin }).first().click()
    await heading(page, lists.unpinTitle).waitFor()
    await shoot('dashboard-unpin', page)
    await page.unroute('**/trust/sources')
  },

  async 'dashboard-editor'(stage) {
    const { words, asOwner, shoot, settle } = stage
    const page = await asOwner('/dashboard/template-editor')
    await shoot('dashboard-editor-new', page)
    await page.goto('/dashboard/template-editor?from=age_over_18')
    await settle(page)
    await shoot('dashboard-editor-copy', page)
    await page.getByText(words.editor.advanced).click()
    await page.getByLabel(words.editor.query).fill('{"credentials": [{"id": "x", "format": "jwt_vc", "meta": {}}]}')
    await page.getByText(words.editor.bad).waitFor()
    await shoot('dashboard-editor-problems', page)
  },

  async docs(stage) {
    if (stage.language === 'de') return
    const { page, shoot } = stage
    for (const [name, path] of Object.entries({ docs: '/docs', 'docs-page': '/docs/start', 'docs-api': '/docs/api' })) {
      await page.goto(path)
      await heading(page, /./).first().waitFor()
      await shoot(name)
    }
  },

  async lost({ page, words, shoot }) {
    await page.goto('/nowhere')
    await heading(page, words.lost.title).waitFor()
    await shoot('lost')
  },
}

async function pairTill({ page, words, call }: Stage): Promise<void> {
  const body = { name: words.till.title, allowed_templates: TEMPLATES }
  const { pairing_code } = await call<{ pairing_code: string }>('POST', '/v1/devices', body)
  await page.goto(`/till#pair=${pairing_code}`)
  await button(page, words.till.pair).click()
  await heading(page, words.till.idle).waitFor()
}

async function walletUri(page: Page): Promise<string> {
  const link = page.locator('a[href*="wallet_uri="]')
  return decodeURIComponent((await link.getAttribute('href'))?.split('wallet_uri=')[1] ?? '')
}

/** As a wallet does when it has scanned the code. */
async function fetchRequest({ page }: Stage, uri: string): Promise<void> {
  const requestUri = new URL(uri).searchParams.get('request_uri') ?? ''
  await page.context().request.get(requestUri)
}

async function shootVerdict(stage: Stage, template: number, persona: PersonaId, word: string, name: string): Promise<void> {
  const { page, words, answer, shoot } = stage
  await page.locator('.idle button').nth(template).click()
  // A verdict closes by itself: the pictures take longer.
  await page.clock.setFixedTime(Date.now())
  await answer(await walletUri(page), persona)
  const verdict = page.getByText(word, { exact: true }).first()
  const same = button(page, words.till.samePerson)
  await verdict.or(same).waitFor()
  if (await same.isVisible()) await same.click()
  await verdict.waitFor()
  await shoot(name)
  await page.getByRole('button', { name: words.till.next }).click()
  await heading(page, words.till.idle).waitFor()
}
