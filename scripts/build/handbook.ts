#!/usr/bin/env bun
// Writes the tables of tables.ts into the pages of the handbook. With --check it changes nothing, and fails when a page is stale.
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import { depsToListRoutes } from '../../src/cli/openapi.ts'
import { loadConfig } from '../../src/config.ts'
import { describeRoutes } from '../../src/http/openapi.ts'
import { WebhookEvent } from '../../src/verifications/schema.ts'
import { makeTables } from './tables.ts'

const ROOT = join(import.meta.dir, '../..')
const MARKER = /^\[generated: ([\w-]+)\]: # "scripts\/build\/handbook\.ts"\n+(?:\|.*\n)*\n*/gm

/** Pages with a stale table, each with its current text. */
export async function stalePages(): Promise<{ path: string; text: string }[]> {
  const config = loadConfig({})
  const tables = await makeTables(describeRoutes(createApp(depsToListRoutes(config)).routes, config.publicUrl, WebhookEvent))
  const pages = ['README.md', ...(await Array.fromAsync(new Bun.Glob('src/handbook/pages/**/*.md').scan(ROOT)))]
  const all = await Promise.all(
    pages.map(async path => {
      const before = await Bun.file(join(ROOT, path)).text()
      const filled = before.replace(MARKER, (found, name: string) => {
        const made = tables[name]
        if (!made) throw new Error(`${path}: there is no table "${name}"`)
        return `${found.split('\n', 1)[0]}\n\n${made}\n\n`
      })
      const text = `${filled.trimEnd()}\n`
      return { path, text, isStale: text !== before }
    }),
  )
  return all.filter(({ isStale }) => isStale)
}

if (import.meta.main) {
  const stale = await stalePages()
  const isCheck = process.argv.includes('--check')
  if (!isCheck) for (const { path, text } of stale) await Bun.write(join(ROOT, path), text)
  for (const { path } of stale)
    console.log(isCheck ? `${path}: stale table; run ./scripts/bun scripts/build/handbook.ts` : `${path}: written`)
  process.exitCode = isCheck && stale.length > 0 ? 1 : 0
}
