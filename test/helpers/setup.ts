import { afterAll } from 'bun:test'
import { cleanUp } from './app.ts'

// A developer's own settings must not reach into the tests.
for (const name of Object.keys(process.env))
  if (name.startsWith('VIDIMUS_') || name === 'PORT' || name === 'HOST') delete process.env[name]

// Here, because this file is loaded once for all others: it runs after the last test.
afterAll(cleanUp)
