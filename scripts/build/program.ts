#!/usr/bin/env bun
// Makes the release: one program per kind of machine, with workers, pages, migrations and docs inside, the SHA-256 of each,
// and a bill of materials (CycloneDX).
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../src/base/hash.ts'
import { parseCall, print, UsageError } from '../../src/cli/output.ts'
import { compileReleases } from './release.ts'
import { billOfMaterials } from './sbom.ts'

const TARGETS = ['linux-x64', 'linux-arm64', 'linux-x64-musl', 'linux-arm64-musl', 'darwin-x64', 'darwin-arm64', 'windows-x64']

const HELP = `usage: scripts/bun run build [--all] [--out DIR]

Makes dist/vidimus for this machine; with --all one for each machine below, whose runtime is fetched from the package registry.

${TARGETS.join('\n')}

example: scripts/bun run build --all`

const ROOT = join(import.meta.dir, '../..')

async function run(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, { all: { type: 'boolean' }, out: { type: 'string' } })
  if (values.help) return print(HELP)
  if (words.length) throw new UsageError(`build takes no "${words[0]}"`)
  const out = values.out ?? join(ROOT, 'dist')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const others = TARGETS.map(target => ({ outfile: join(out, `vidimus-${target}`), target }))
  await compileReleases(values.all ? others : [{ outfile: join(out, 'vidimus') }])
  writeFileSync(join(out, 'vidimus.cdx.json'), `${JSON.stringify(await billOfMaterials(ROOT), null, 2)}\n`)
  const sums = await Promise.all(
    readdirSync(out).map(async name => `${sha256Hex(await Bun.file(join(out, name)).bytes())}  ${name}`),
  )
  writeFileSync(join(out, 'SHA256SUMS'), `${sums.join('\n')}\n`)
  return print(`${sums.join('\n')}\n\n${out}`)
}

process.exitCode = await run(process.argv.slice(2)).catch(error => {
  console.error(`build: ${(error as Error).message}`)
  return error instanceof UsageError ? 2 : 1
})
