// Lists of revoked documents in the dashboard: those that are kept, and what a session says of an older one.
import { afterAll, expect } from 'bun:test'
import { cleanUp, NOON } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { enter, startForBrowser } from '../helpers/dashboard-page.ts'
import { forgeSigner, trust } from '../helpers/forger.ts'
import { hostLists } from '../helpers/list-host.ts'
import { publishLists, shown } from '../helpers/status-lists.ts'

afterAll(cleanUp)

const HOUR = 3_600_000

async function openShop() {
  const host = await hostLists()
  const issuer = await forgeSigner()
  const config = { egressAllow: [host.allow], extraCaFile: host.caFile, statusMaxAgeMs: 24 * HOUR }
  const app = await startForBrowser({ resolve: async () => ['127.0.0.1'], config, now: NOON })
  await trust(app, issuer)
  const { id: tenantId, key } = await app.tenant()
  publishLists(host, issuer, () => app.clock.now())
  const show = () => shown({ app, key, tenantId }, issuer, host.url('/status/7'))
  for (const _ of [1, 2]) expect((await show()).outcome).toBe('completed')
  host.answer(() => new Response('gone', { status: 503 }))
  app.clock.advance(8 * HOUR)
  return { app, host, show }
}

browserTest('the Trust page shows a kept list, its times, and why it could not be fetched again', async openPage => {
  const { app, host } = await openShop()
  const { page } = await enter(app, openPage, '/dashboard/trust', { timezoneId: 'UTC' })
  const group = page.getByRole('region', { name: 'Revocation lists' })
  await group.getByText('Without a fresh list one of up to 24 hours is used (VIDIMUS_STATUS_MAX_AGE).').waitFor()
  const row = group.getByRole('list', { name: 'Revocation lists' }).getByRole('listitem')
  await row.getByText(new URL(host.url()).host, { exact: true }).waitFor()
  await row.getByText(`Status list (JWT) · ${host.url('/status/7')}`).waitFor()
  // To the minute: nobody reads milliseconds of a list.
  const times = row.getByText(/^issued /)
  expect(await times.textContent()).toMatch(/^issued .*, 12:00 · ends .*, 12:00 · as of .*, 12:00, fetched$/)
  await group.getByRole('button', { name: 'Refresh' }).click()
  await row.getByText(/answered 503/).waitFor()
  expect(await times.textContent()).toMatch(/^issued .*12:00 /)
  await expectAccessible(page)
  await shoot(page, 'dashboard-revocation')
})

browserTest('a verification by an older list says in its checks as of when the list was', async openPage => {
  const { app, show } = await openShop()
  const { id, outcome } = await show()
  expect(outcome).toBe('completed')
  const { page } = await enter(app, openPage, `/dashboard/verifications/${id}?environment=test`, { timezoneId: 'UTC' })
  await page.getByText(/Checked against the issuer’s list of .*, 12:00; a newer one could not be fetched\.$/).waitFor()
  expect(page.complaints).toEqual([])
})
