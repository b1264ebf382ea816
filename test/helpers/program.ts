// The built program, for tests that start it as a process: it starts five times faster than from source, and it is the one that
// is released. Built on first use and kept under the hash of everything it is made of, so it is never stale.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { compile } from '../../scripts/build/compile.ts'

const ROOT = resolve(import.meta.dir, '../..')
const BUILT = join(ROOT, 'dist/test')
export const MADE_OF = ['src', 'drizzle', 'package.json', 'bun.lock', 'tsconfig.json', 'scripts/build/compile.ts']
/** A run that began before the last change may still use the program before it. */
const KEPT = 2

/** Path of the program, which is there. */
export const PROGRAM = await builtProgram()

async function builtProgram(): Promise<string> {
  const hash = hashOfSources(ROOT)
  const program = join(BUILT, hash, 'vidimus')
  if (existsSync(program)) return program
  mkdirSync(BUILT, { recursive: true })
  const making = mkdtempSync(join(BUILT, 'making-'))
  try {
    await compile(join(making, 'vidimus'))
    if (hashOfSources(ROOT) !== hash) throw new Error('the sources changed while the program was built; start the tests again')
    // Several test processes may build it at once: the first one wins, the programs are the same.
    if (!existsSync(program)) renameSync(making, dirname(program))
  } catch (error) {
    if (!existsSync(program)) throw error
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
  removeOld(hash)
  return program
}

/** Changes with every file the program is made of, its path included, and with the runtime. */
export function hashOfSources(root: string): string {
  const hash = createHash('sha256').update(Bun.revision)
  for (const name of MADE_OF) {
    for (const file of filesIn(join(root, name))) {
      const content = readFileSync(file)
      hash.update(`${file.slice(root.length)}\0${content.length}\0`).update(content)
    }
  }
  return hash.digest('hex').slice(0, 16)
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  return entries.flatMap(entry => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort()
}

function removeOld(current: string): void {
  const others = readdirSync(BUILT).filter(name => name !== current && !name.startsWith('making-'))
  const newestFirst = others.map(name => ({ name, at: statSync(join(BUILT, name)).mtimeMs })).sort((a, b) => b.at - a.at)
  for (const { name } of newestFirst.slice(KEPT - 1)) rmSync(join(BUILT, name), { recursive: true, force: true })
}
