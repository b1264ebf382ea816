import { Elysia } from 'elysia'
import { Nothing } from '../../../http/wire.ts'
import { guard } from '../../../people/guard.ts'
import type { Deps } from '../../deps.ts'
import { CHANGED_ALL } from '../../tenant-options.ts'
import { createExamination } from './examination.ts'
import { Health } from './schema.ts'

/** The findings of `vidimus doctor`. */
export const healthRoutes = (deps: Deps) => {
  const look = createExamination(deps)
  return new Elysia()
    .use(guard(deps))
    .post('/health', () => look(), { user: { who: 'owner' }, body: Nothing, response: { 200: Health, ...CHANGED_ALL } })
}
