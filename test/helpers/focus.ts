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

declare global {
  var focused: string[]
}

/** From here on the page notes where the focus goes. */
export async function rememberFocus(page: Page): Promise<void> {
  await page.evaluate(() => {
    globalThis.focused = []
    addEventListener('focusin', ({ target }) => globalThis.focused.push((target as Element).textContent.trim()))
  })
}

/** The texts of everything that had the focus since then. */
export const focusedSince = async (page: Page): Promise<string[]> => await page.evaluate(() => globalThis.focused)

/** An element that only scripts can focus shows no ring. */
export async function hasNoRing(page: Page): Promise<void> {
  expect(await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle)).toBe('none')
}

const TABS_MAX = 90
const RING_PX = 2

/** Presses Tab until it has the focus. Every stop on the way has a role, a name and a visible ring. */
export async function tabTo(element: Locator): Promise<void> {
  const page = element.page()
  await element.waitFor()
  const heard: string[] = []
  for (let stop = await element.evaluate(lookAround); !stop.isThis; stop = await element.evaluate(lookAround)) {
    if (heard.length === TABS_MAX) throw new Error(`${element} is not reached by Tab, but: ${heard.join(', ')}`)
    await page.keyboard.press('Tab')
    heard.push(await describeStop(page))
  }
}

/** Goes there by Tab, and presses a key. */
export async function press(element: Locator, key = 'Enter'): Promise<void> {
  await tabTo(element)
  await element.page().keyboard.press(key)
}

/** Goes there by Tab, and types over what is there. */
export async function type(element: Locator, text: string): Promise<void> {
  await press(element, 'ControlOrMeta+a')
  await element.page().keyboard.type(text)
}

/** Waits until a screen reader says it: a live region has it, or the focus is on it. */
export async function isHeard(page: Page, text: string | RegExp): Promise<void> {
  const spoken = page.locator('[role=status], [role=alert], [aria-live], :focus').filter({ hasText: text })
  await spoken.first().waitFor({ state: 'attached' })
}

/** The focused element as the accessibility tree has it. Past the last one the browser itself has the focus. */
async function describeStop(page: Page): Promise<string> {
  const { isNothing, isScripted, isCalendar, isSummary, ringPx, mark } = await page.evaluate(lookAround, null)
  if (isNothing) return 'nothing'
  if (isScripted) return 'where the page put the focus'
  if (isCalendar) return 'the calendar button of a date'
  const focused = page.locator(':focus, body:not(:has(:focus))')
  const [stop = ''] = (await focused.ariaSnapshot()).split('\n')
  // A list that was loaded meanwhile may have taken the focused element away.
  if ((await page.evaluate(lookAround, null)).mark !== mark) return 'moved'
  // The snapshot has no role for the head of a disclosure; browsers do.
  const isNamed = isSummary ? /^- text: \S/.test(stop) : /^- '?(?!generic|document|text\b)[a-z]+ ["/]/.test(stop)
  if (!isNamed) throw new Error(`a stop without role or name: ${stop}`)
  if (ringPx < RING_PX) throw new Error(`a stop without a visible ring: ${stop}`)
  return stop
}

/** Runs in the page. */
function lookAround(element: Element | null) {
  const focused = document.activeElement ?? document.body
  // The link of a row has its ring around the row, and a drawn radio button around its label.
  const styles = [
    getComputedStyle(focused),
    getComputedStyle(focused, '::after'),
    getComputedStyle(focused.closest('label') ?? focused),
  ]
  const ring = styles.find(({ outlineStyle }) => outlineStyle !== 'none')
  return {
    isThis: element === focused,
    isNothing: focused === document.body,
    // Tab does not lead there: the page moved the focus meanwhile, for example to a new heading.
    isScripted: focused.matches('[tabindex="-1"]'),
    // The browser's own, with the browser's ring.
    isCalendar: focused.matches('input[type=date]:not(:focus)'),
    mark: focused.outerHTML.slice(0, 200),
    isSummary: focused.tagName === 'SUMMARY',
    ringPx: ring ? Number.parseFloat(ring.outlineWidth) : 0,
  }
}
