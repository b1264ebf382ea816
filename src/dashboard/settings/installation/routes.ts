import { Elysia } from 'elysia'
import { guard } from '../../../people/guard.ts'
import type { Deps } from '../../deps.ts'
import { READ_ALL } from '../../tenant-options.ts'
import { readInstallation } from './installation.ts'
import { Installation } from './schema.ts'

/** Settings of the operator, made when the service starts. */
export const installationRoutes = (deps: Deps) =>
  new Elysia().use(guard(deps)).get('/installation', () => readInstallation(deps), {
    user: { who: 'owner' },
    response: { 200: Installation, ...READ_ALL },
  })
