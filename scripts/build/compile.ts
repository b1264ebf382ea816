import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')
/** A worker is found in the program only if it is an entry point too. */
export const ENTRY_POINTS = [
  'src/main.ts',
  'src/webhooks/delivery/poster-thread.ts',
  'src/upkeep/backup-worker.ts',
  'src/db/sqlite/integrity-worker.ts',
  'src/trust-lists/read-thread.ts',
]

/** `order`: a recorded start (release.ts). */
type Options = { target?: string; order?: string }

/** The whole program as one file, for this machine or for another. */
export async function compile(outfile: string, { target, order }: Options = {}): Promise<void> {
  const child = Bun.spawn(
    [
      process.execPath,
      'build',
      '--compile',
      '--minify',
      '--bytecode',
      // Nearly everything runs once while the program starts: compiled to machine code, it would start later. `compileHotCode`
      // ends this.
      '--compile-jit-policy=100',
      // A released program reads its own settings only, not files in the folder where it is started.
      '--no-compile-autoload-bunfig',
      '--no-compile-autoload-dotenv',
      ...(target === undefined ? [] : [`--target=bun-${target}`]),
      ...(order === undefined ? [] : [`--bytecode-order=${order}`]),
      ...ENTRY_POINTS,
      '--outfile',
      outfile,
    ],
    { cwd: ROOT, stdout: 'ignore', stderr: 'pipe' },
  )
  const problem = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`${target ?? 'this machine'}: ${problem}`)
}
