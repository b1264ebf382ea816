import { afterAll, setDefaultTimeout } from 'bun:test'
import { existsSync, statfsSync } from 'node:fs'
import fc from 'fast-check'
import { TEST_MS_MAX } from '../run.ts'
import { cleanUp } from './app.ts'
import { keepCompiledSchemas } from './compiled-schemas.ts'
import { FRESH_SEED } from './fresh-seed.ts'
import { keepReader } from './kept-threads.ts'
import { makePasswordsCheap } from './passwords.ts'

// Removes a developer's own settings, except the database server of the tests.
for (const name of Object.keys(process.env)) if (/^(VIDIMUS_(?!DATABASE_URL$)|PORT$|HOST$)/.test(name)) delete process.env[name]

// Test data is in memory where there is room: on a disk each commit waits for milliseconds. A killed process loses nothing more.
const MEMORY = '/dev/shm'
const ROOM_MIN_BYTES = 2 * 1024 ** 3
if (!process.env.TMPDIR && existsSync(MEMORY) && roomIn(MEMORY) >= ROOM_MIN_BYTES) process.env.TMPDIR = MEMORY

function roomIn(dir: string): number {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}

// Holds for one file, as `bun test FILE` runs it: the runner drops it after the first, so run.ts names it again.
setDefaultTimeout(TEST_MS_MAX)

// The seed of properties that name none.
fc.configureGlobal({ seed: FRESH_SEED })

makePasswordsCheap()
keepReader()
keepCompiledSchemas()

// Registered here, in a file that is loaded once: it runs after the last test, with --parallel after the last one of each file.
afterAll(cleanUp)
