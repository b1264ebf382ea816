import { setDefaultTimeout } from 'bun:test'

// Real servers, real files and, in places, real processes: generous, because a time limit is not what these tests are about.
setDefaultTimeout(60_000)

// A developer's own settings must not reach into the tests.
for (const name of Object.keys(process.env))
  if (name.startsWith('VIDIMUS_') || name === 'PORT' || name === 'HOST') delete process.env[name]
