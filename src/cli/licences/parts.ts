// What the program is made of, read off the lock file and the packages themselves. It runs as a macro: while the program is built,
// or when the command is loaded from source. The built program has the answer and no packages.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Part = { name: string; version: string; licence: string; text: string }
export type Locked = [id: string, registry: string, needs: { dependencies?: Record<string, string> }, integrity: string]

const ROOT = join(import.meta.dir, '../../..')

/** Packages that are in the program, by their folder in the lock file. */
export function packagesInside(): Map<string, Locked> {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const lock = Bun.JSONC.parse(readFileSync(join(ROOT, 'bun.lock'), 'utf8')) as { packages: Record<string, Locked> }
  const found = new Map<string, Locked>()
  const visit = (name: string, within: string) => {
    // A package inside another's folder is locked under both names, and found there first.
    const key = [`${within}/${name}`, name].find(each => lock.packages[each])
    const locked = key === undefined ? undefined : lock.packages[key]
    if (key === undefined || !locked || found.has(key)) return
    found.set(key, locked)
    // No optional ones: those are libraries of single systems, and stay outside.
    for (const each of Object.keys(locked[2].dependencies ?? {})) visit(each, key)
  }
  for (const name of Object.keys(manifest.dependencies)) visit(name, '')
  return found
}

/** The runtime names its own parts: it is built from others' code, JavaScriptCore among it. */
const RUNTIME: Part = {
  name: 'bun',
  version: Bun.version,
  licence: 'MIT',
  text: 'The runtime. It contains JavaScriptCore (LGPL-2.1), SQLite (public domain), BoringSSL and others; https://bun.com/docs/project/license lists them with their licences, and how to link the program with a changed JavaScriptCore.',
}

export function partsInside(): Part[] {
  const parts = [
    ...packagesInside()
      .keys()
      .map(key => partIn(folderOf(key))),
    RUNTIME,
  ]
  const byId = new Map(parts.map(part => [`${part.name} ${part.version}`, part]))
  return [...byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part)
}

/** `@a/b/c` is the package `c` in the folder of `@a/b`. */
const folderOf = (key: string): string =>
  join(ROOT, 'node_modules', (key.match(/(@[^/]+\/)?[^/]+/g) ?? []).join('/node_modules/'))

function partIn(folder: string): Part {
  const { name, version, license = 'unknown' } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const texts = readdirSync(folder).filter(file => /^(licen[cs]e|notice)/i.test(file))
  return {
    name,
    version,
    licence: license,
    text: texts.map(file => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n'),
  }
}
