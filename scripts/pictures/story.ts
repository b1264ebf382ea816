import type { Browser } from 'playwright-core'
import { demo as words } from '../../src/web/demo/en.ts'

/** The demo after one purchase online and one at the till: every pane shows a result. */
export async function takeStory(browser: Browser, { origin }: { origin: string }, path: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1140 }, reducedMotion: 'reduce' })
  await page.goto(`${origin}/demo`)
  const shop = page.getByRole('region', { name: words.shop.title, exact: true })
  const phone = page.frameLocator(`iframe[title="${words.phone.title}"]`)
  await shop.getByRole('button', { name: words.online.buy }).click()
  await shop.getByRole('button', { name: 'Answer with the sandbox wallet' }).click()
  await phone.getByRole('button', { name: 'Share', exact: true }).click()
  await shop.getByText(words.online.ordered).waitFor()
  const till = page.frameLocator(`iframe[title="${words.till.title}"]`)
  await till.getByRole('button', { name: 'Age 18 or over', exact: true }).click()
  await page.getByRole('button', { name: words.steps.scan.press }).click()
  await phone.getByRole('button', { name: 'Share', exact: true }).click()
  await till.getByText('Yes', { exact: true }).first().waitFor()
  await page.getByRole('button', { name: words.steps.erase.press }).first().waitFor()
  // Up to the end of the panes: the cheats below them are for readers who try it.
  await page.evaluate(() => scrollTo(0, 0))
  const panes = await page.locator('.panes').boundingBox()
  const clip = { x: 0, y: 0, width: 1280, height: Math.ceil((panes?.y ?? 0) + (panes?.height ?? 0) + 6), scale: 1 }
  // A third of the size of a PNG.
  const debuggee = await page.context().newCDPSession(page)
  const { data } = await debuggee.send('Page.captureScreenshot', { format: 'webp', quality: 90, clip })
  await Bun.write(path, Buffer.from(data, 'base64'))
  console.log(`${path}: ${Bun.file(path).size} bytes`)
}
