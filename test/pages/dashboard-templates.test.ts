// Templates: what they ask for, and the editor.
import { afterAll, describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { enter, startForBrowser } from '../helpers/dashboard-page.ts'

afterAll(cleanUp)

const QUERY = {
  credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims: [{ path: ['birthdate'] }] }],
}

const question = (page: Page) => page.getByLabel('Question (DCQL, as JSON)')
const result = (page: Page) => page.locator('.editor-result')

describe('templates', () => {
  browserTest('that are built in are explained, with a picture of what the holder will see', async openPage => {
    const app = await startForBrowser()
    await app.tenant({ name: 'Wine bar' })
    const { page } = await enter(app, openPage, '/dashboard/templates')
    await page.getByRole('link', { name: 'Age 18 or over', exact: true }).click()
    const panel = page.locator('.panel')
    await panel.getByText('The answer is a yes or no: 18 or over.').waitFor()
    const sketch = panel.getByRole('img', { name: 'Sketch of a wallet that asks for consent: Age 18 or over' })
    for (const text of ['Wine bar asks for', 'EU proof of age', 'That you are 18 or over', 'To check that you are 18 or over'])
      expect(await sketch.textContent()).toContain(text)
    expect(await panel.getByRole('button', { name: 'Delete' }).count()).toBe(0)
    await expectAccessible(page)
    await shoot(page, 'dashboard-template')
    expect(page.complaints).toEqual([])
  })

  browserTest('of your own are checked while you type, hint at less, and are asked with at once', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/templates')
    await page.getByRole('link', { name: 'New template' }).click()
    await result(page).getByText('Wallets can answer this.').waitFor()
    await page.getByLabel('Key', { exact: true }).fill('age_over_18')
    await page.getByText('There is a template with this key already.').waitFor()
    await page.getByLabel('Key', { exact: true }).fill('Birth Date')
    await page.getByText('Use small letters, digits and underscores').waitFor()
    await page.getByLabel('Key', { exact: true }).fill('birth_date')
    await page.getByLabel('Title').fill('When born')
    await question(page).fill('{"credentials": [')
    await page.getByText(/This is not JSON yet/).waitFor()
    await question(page).fill(JSON.stringify({ credentials: [{ id: 'pid', format: 'ldp_vc' }] }))
    await page.getByText('credentials[0].format: The format must be').waitFor()
    await result(page).getByText('Wallets cannot answer this yet.').waitFor()
    expect(await page.getByRole('button', { name: 'Save template' }).isDisabled()).toBe(true)
    await expectAccessible(page)
    await shoot(page, 'dashboard-editor-problem')
    await question(page).fill(JSON.stringify(QUERY, null, 2))
    await result(page).getByText('An age answer tells only that.').waitFor()
    expect(await result(page).getByRole('img').textContent()).toContain('Date of birth')
    await expectAccessible(page)
    await shoot(page, 'dashboard-editor')
    await page.getByRole('button', { name: 'Save template' }).click()
    await page.locator('.panel').getByRole('heading', { name: 'When born' }).waitFor()
    const asked = await app.call<Verification>('POST', '/v1/verifications', { key, body: { template: 'birth_date' } })
    expect([asked.status, asked.body.template]).toEqual([201, 'birth_date'])
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('heading', { name: 'Edit “When born”' }).waitFor()
    expect(await page.getByLabel('Key', { exact: true }).getAttribute('readonly')).not.toBeNull()
    // It looks like what it is.
    const backgroundOf = (label: string) =>
      page.getByLabel(label, { exact: true }).evaluate(input => getComputedStyle(input).backgroundColor)
    expect(await backgroundOf('Key')).not.toBe(await backgroundOf('Title'))
    await shoot(page, 'dashboard-template-edit')
    await page.getByLabel('Title').fill('Born when')
    await page.getByRole('button', { name: 'Save template' }).click()
    await page.locator('.panel').getByRole('heading', { name: 'Born when' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/To confirm, type/)
      .fill('birth_date')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete template' }).click()
    await page.getByRole('link', { name: 'Born when' }).waitFor({ state: 'detached' })
    const after = await app.call('POST', '/v1/verifications', { key, body: { template: 'birth_date' } })
    expect(after.status).toBe(422)
    expect(page.complaints).toEqual([])
  })

  browserTest('of your own have rules and a purpose, explained and checked while you type', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/templates')
    const rules = page.getByLabel('Rules (as JSON, optional)')
    await page.getByRole('link', { name: 'New template' }).click()
    await page.getByText('Left empty, every age you ask for must be reached.').waitFor()
    await page.getByLabel('Key', { exact: true }).fill('tasting')
    await page.getByLabel('Title').fill('Wine tasting')
    await question(page).fill(
      JSON.stringify({
        credentials: [{ ...QUERY.credentials[0], claims: [{ path: ['age_equal_or_over', '18'] }, { path: ['nationalities'] }] }],
      }),
    )
    await result(page).getByText('age_over_18 is true').waitFor()
    await rules.fill('[]')
    await result(page).getByText('There are no rules: every good document completes, whatever it says.').waitFor()
    await result(page).getByText('No rule judges age_over_18: a customer who is too young completes too.').waitFor()
    await rules.fill('[{"claim": ')
    await page.getByText(/This is not JSON yet/).waitFor()
    await rules.fill('[{"claim": "level", "is": true}]')
    await page.getByText('[0].claim: The query never delivers "level" as a merged claim').waitFor()
    await result(page).getByText('The rules do not work yet.').waitFor()
    expect(await page.getByRole('button', { name: 'Save template' }).isDisabled()).toBe(true)
    await expectAccessible(page)
    await shoot(page, 'dashboard-editor-rules-problem')
    await rules.fill('[{"claim": "nationalities", "one_of": ["DE", "FR"]}]')
    await result(page).getByText('nationalities is one of: DE, FR').waitFor()
    await page.getByLabel('Purpose (optional)').fill('To pour you a glass')
    expect(await result(page).getByRole('img').textContent()).toContain('To pour you a glass')
    await expectAccessible(page)
    await shoot(page, 'dashboard-editor-rules')
    await page.getByRole('button', { name: 'Save template' }).click()
    const panel = page.locator('.panel')
    await panel.getByText('nationalities is one of: DE, FR').waitFor()
    expect(await panel.getByRole('img').textContent()).toContain('To pour you a glass')
    await expectAccessible(page)
    await shoot(page, 'dashboard-template-rules')
    const asked = await app.call<Verification>('POST', '/v1/verifications', { key, body: { template: 'tasting' } })
    expect(asked.body.purpose).toBe('To pour you a glass')
    await page.getByRole('link', { name: 'Edit' }).click()
    expect(await rules.inputValue()).toContain('"one_of":["DE","FR"]')
    expect(await page.getByLabel('Purpose (optional)').inputValue()).toBe('To pour you a glass')
    await page.getByRole('button', { name: 'Deutsch' }).click()
    await page.getByText('Bleibt das leer, muss jedes Alter erreicht sein, nach dem Sie fragen.').waitFor()
    await result(page).getByText('Keine Regel gilt für age_over_18').waitFor()
    await shoot(page, 'dashboard-editor-rules-german')
    expect(page.complaints).toEqual([])
  })

  browserTest('that are built in serve as a start for your own', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/templates/identity_basic')
    await page.getByRole('link', { name: 'Use as a start' }).click()
    await result(page).getByText('Wallets can answer this.').waitFor()
    expect(await question(page).inputValue()).toContain('family_name')
    await page.getByLabel('Start from').selectOption('country')
    await result(page).getByText('Wallets can answer this.').waitFor()
    expect(await question(page).inputValue()).not.toContain('family_name')
    expect(await page.getByLabel('Purpose (optional)').inputValue()).toBe('To check which country you are from')
  })
})
