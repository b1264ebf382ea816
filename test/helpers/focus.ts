import { expect } from 'bun:test'
import type { Locator, Page } from 'playwright-core'

const FOCUS_TRIES = 300

/** Waits until it has the focus. */
export async function isFocused(element: Locator): Promise<void> {
  const page = element.page()
  await element.waitFor()
  for (let i = 0; i < FOCUS_TRIES; i++) {
    if (await element.evaluate(each => each === document.activeElement)) return
    await page.evaluate(() => new Promise(drawn => requestAnimationFrame(drawn)))
  }
  throw new Error(`${element} has no focus, but: ${await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200))}`)
}

/** An element that only scripts can focus shows no ring. */
export async function hasNoRing(page: Page): Promise<void> {
  expect(await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle)).toBe('none')
}
