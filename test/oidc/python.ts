// Programs in Python with packages of others: in an environment of their own, made once for each list of packages.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '../../src/base/hash.ts'
import { runOf } from '../helpers/run.ts'

/** Without a network, pip tries for a long time. */
const INSTALL_MS_MAX = 120_000

export type Python = { program: string } | { missing: string }

/** An interpreter that has exactly these packages, or why there is none. */
export async function pythonWith(requirements: string): Promise<Python> {
  const python = Bun.which('python3')
  if (!python) return { missing: 'there is no python3' }
  const dir = join(tmpdir(), `vidimus-python-${sha256Hex(readFileSync(requirements, 'utf8')).slice(0, 16)}`)
  const program = join(dir, 'bin/python')
  if (existsSync(join(dir, 'whole'))) return { program }
  // Two runs at once: each makes its own, and the one that is whole first stays.
  const made = `${dir}.${process.pid}`
  mkdirSync(made, { recursive: true })
  const steps = [
    [python, '-m', 'venv', made],
    [join(made, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements],
  ]
  for (const step of steps) {
    const child = Bun.spawn(step, { stdout: 'pipe', stderr: 'pipe', timeout: INSTALL_MS_MAX })
    const { exitCode, stderr } = await runOf(child)
    if (exitCode === 0) continue
    rmSync(made, { recursive: true, force: true })
    return { missing: `the packages could not be installed: ${stderr.trim().split('\n').at(-1) ?? ''}` }
  }
  writeFileSync(join(made, 'whole'), '')
  try {
    renameSync(made, dir)
  } catch {
    rmSync(made, { recursive: true, force: true })
  }
  return { program }
}
