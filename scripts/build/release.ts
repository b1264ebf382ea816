// The program as it is released: compiled twice. A start of the first one is recorded, and in the second the functions of that
// start lie together, so that it reads less of its own file: it starts earlier and stays smaller.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programIn } from '../smoke/program.ts'
import { compile } from './compile.ts'

/** One for each file; those without a target are for this machine. One recording serves every target. */
export async function compileReleases(programs: readonly { outfile: string; target?: string }[]): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'vidimus-build-'))
  try {
    const order = await recordStart(dir)
    for (const { outfile, target } of programs) await compile(outfile, { target, order })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Returns the file that lists the functions of a start. The first one makes the database; the second is as all others. */
async function recordStart(dir: string): Promise<string> {
  const order = join(dir, 'start.order')
  const program = programIn(dir)
  await compile(program.path)
  const startOnce = async (env: Record<string, string>) => {
    const service = await program.start(['serve'], { HOST: '127.0.0.1', ...env })
    await fetch(`${service.url}/healthz`)
    // The record is written when it ends.
    await service.stop()
  }
  await startOnce({})
  await startOnce({ BUN_BYTECODE_ORDER_OUT: order })
  if (!existsSync(order)) throw new Error('the start of the program was not recorded')
  return order
}
