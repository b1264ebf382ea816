import { afterAll } from 'bun:test'
import fc from 'fast-check'
import { cleanUp } from './app.ts'
import { FRESH_SEED } from './fresh-seed.ts'
import { makePasswordsCheap } from './passwords.ts'

// A developer's own settings must not reach into the tests.
for (const name of Object.keys(process.env))
  if (name.startsWith('VIDIMUS_') || name === 'PORT' || name === 'HOST') delete process.env[name]

// Properties that name no seed of their own.
fc.configureGlobal({ seed: FRESH_SEED })

makePasswordsCheap()

// Here, because this file is loaded once for all others: it runs after the last test.
afterAll(cleanUp)
