#!/usr/bin/env bun
// Takes the picture of the demo for README.md from the running program, after a verified age. Needs Chromium.
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const ROOT = join(import.meta.dir, '../..')
const OUT = join(ROOT, 'src/handbook/pictures/demo.png')
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

const demo = Bun.spawn([process.execPath, 'src/main.ts', 'demo', '--no-open', '--port', '0'], {
  cwd: ROOT,
  stdout: 'pipe',
  stderr: 'inherit',
})
const url = await firstUrl(demo.stdout)
const executablePath = process.env.CHROMIUM ?? NAMES.map(name => Bun.which(name)).find(found => found !== null) ?? undefined
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
const page = await browser.newPage({ viewport: { width: 1200, height: 740 }, reducedMotion: 'reduce' })
await page.goto(url)
await page.getByRole('button', { name: 'Ask for 18 or over' }).click()
await page.getByRole('button', { name: 'Scan with the phone' }).click()
const phone = page.frameLocator('iframe[title="On the phone"]')
await phone.getByRole('button', { name: 'Share', exact: true }).click()
await phone.getByRole('heading', { name: 'Accepted.' }).waitFor()
await page.frameLocator('iframe[title="At the till"]').getByText('Yes', { exact: true }).first().waitFor()
await page.getByText('Signature verified', { exact: true }).waitFor()
await page.screenshot({ path: OUT })
await browser.close()
demo.kill()
await demo.exited
console.log(`${OUT}: ${Bun.file(OUT).size} bytes`)

/** The address that the demo prints. */
async function firstUrl(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of output) {
    text += new TextDecoder().decode(chunk)
    const [url] = /http:\S+\/demo\S*/.exec(text) ?? []
    if (url) return url
  }
  throw new Error('the demo printed no address')
}
