#!/usr/bin/env bun
// Screenshots of the running program. Needs Chromium.
//
//   ./scripts/bun scripts/build/pictures.ts                     the picture of README.md
//   ./scripts/bun scripts/build/pictures.ts --all DIR [WORD …]  every page in three sizes, both themes and languages, for
//                                                               people to look at; with words only scenes that contain one
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { SCENES } from '../pictures/scenes.ts'
import { openStage } from '../pictures/stage.ts'
import { takeStory } from '../pictures/story.ts'

const ROOT = join(import.meta.dir, '../..')
const README_PICTURE = join(ROOT, 'src/handbook/pages/pictures/demo.webp')
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const LANGUAGES = ['en', 'de'] as const

const [flag, directory, ...wanted] = process.argv.slice(2)
if (flag !== undefined && (flag !== '--all' || !directory)) throw new Error('usage: pictures.ts [--all DIR [WORD …]]')

const executablePath = process.env.CHROMIUM ?? NAMES.map(name => Bun.which(name)).find(found => found !== null) ?? undefined
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
const demo = await startDemo()
try {
  if (directory) await takeAll(directory)
  else await takeStory(browser, demo, README_PICTURE)
} finally {
  await browser.close()
  demo.process.kill()
  await demo.process.exited
}

async function takeAll(out: string): Promise<void> {
  mkdirSync(out, { recursive: true })
  for (const language of LANGUAGES) {
    const stage = await openStage(browser, demo, { language, out, wanted })
    for (const [name, scene] of Object.entries(SCENES)) {
      // A word may name one picture of a scene.
      if (!stage.isWanted(name) && !wanted.some(word => word.startsWith(`${name}-`))) continue
      await stage.play(name, scene)
    }
    await stage.close()
  }
}

/** The demo has throw-away data, a shop, and an owner's link to its dashboard. */
async function startDemo() {
  const child = Bun.spawn([process.execPath, 'src/main.ts', 'demo', '--no-open', '--json', '--port', '0'], {
    cwd: ROOT,
    // Pictures are taken faster than a person clicks.
    env: { ...process.env, VIDIMUS_RATE_LIMIT_SCALE: '0' },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const reader = child.stdout.getReader()
  let text = ''
  while (!text.includes('\n')) {
    const { value, done } = await reader.read()
    if (done) throw new Error('the demo did not start')
    text += new TextDecoder().decode(value)
  }
  const { url, key, setup_url } = JSON.parse(text) as { url: string; key: string; setup_url: string }
  return { origin: new URL(url).origin, key, setupUrl: setup_url, process: child }
}
