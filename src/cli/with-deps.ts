import { loadConfig } from '../config.ts'
import type { Deps } from '../deps.ts'
import type { Reading } from '../ground.ts'
import { ApiError } from '../http/errors.ts'
import { readTenant } from '../tenants/settings.ts'
import { CommandError, type Shell } from './output.ts'

/** Opens the database, beside a running server too, for one short call. */
export async function withDeps<T>(shell: Shell, work: (deps: Deps) => Promise<T>): Promise<T> {
  const { requireDatabase } = await import('./require-database.ts')
  await requireDatabase(loadConfig(shell.env))
  return await withNewDeps(shell, work)
}

/** Like withDeps, for a call that may be the first one: it creates a missing database. */
export async function withNewDeps<T>(shell: Shell, work: (deps: Deps) => Promise<T>): Promise<T> {
  const config = loadConfig(shell.env)
  // Loaded only now: help, wrong calls and the check of an export need none of it.
  const [{ createDeps }, { realWorld }, { refusalOf }] = await Promise.all([
    import('../deps.ts'),
    import('../ground.ts'),
    import('../db/open.ts'),
  ])
  const deps = await createDeps(config, { ...realWorld(), writeLog: shell.complain }, 'command')
  try {
    return await work(deps)
  } catch (error) {
    throw await refusalOf(config, asCommandError(error))
  } finally {
    await deps.close()
  }
}

export const withTenant = <T>(shell: Shell, id: string, work: (deps: Deps) => Promise<T>): Promise<T> =>
  withDeps(shell, async deps => {
    await requireTenant(deps, id)
    return await work(deps)
  })

export async function requireTenant({ db }: Reading, id: string): Promise<void> {
  if (!(await readTenant(db, id))) throw new CommandError(`there is no tenant ${id}; "vidimus tenant list" shows all`)
}

const asCommandError = (error: unknown): unknown =>
  error instanceof ApiError ? new CommandError(error.message, { cause: error }) : error
