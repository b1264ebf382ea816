import { afterAll } from 'bun:test'
import { existsSync, statfsSync } from 'node:fs'
import fc from 'fast-check'
import { cleanUp } from './app.ts'
import { FRESH_SEED } from './fresh-seed.ts'
import { makePasswordsCheap } from './passwords.ts'

// A developer's own settings must not reach into the tests, but for the database server they run on.
for (const name of Object.keys(process.env)) if (/^(VIDIMUS_(?!DATABASE_URL$)|PORT$|HOST$)/.test(name)) delete process.env[name]

// A commit waits for the disk, for milliseconds each time: where memory has room, test data is there. A killed process loses no more.
const MEMORY = '/dev/shm'
const ROOM_MIN_BYTES = 2 * 1024 ** 3
if (!process.env.TMPDIR && existsSync(MEMORY) && roomIn(MEMORY) >= ROOM_MIN_BYTES) process.env.TMPDIR = MEMORY

function roomIn(dir: string): number {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}

// Properties that name no seed of their own.
fc.configureGlobal({ seed: FRESH_SEED })

makePasswordsCheap()

// Here, because this file is loaded once for all others: it runs after the last test, with --parallel after the last of each file.
afterAll(cleanUp)
