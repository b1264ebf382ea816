import { presentList } from '../../../trust/status/present.ts'
import { type RefreshedList, readLists, refreshLists } from '../../../trust/status/refresh.ts'
import type { Deps } from '../../deps.ts'
import type { RevocationLists } from './schema.ts'

const HOUR_MS = 3_600_000

export async function readRevocationLists(deps: Deps, refreshed: readonly RefreshedList[] = []): Promise<RevocationLists> {
  const data = (await readLists(deps)).map(row => {
    const problem = refreshed.find(({ uri, media }) => uri === row.uri && media === row.media)?.problem
    return { ...presentList(row, deps.config), ...(problem !== undefined && { problem }) }
  })
  return { data, max_age_hours: deps.config.statusMaxAgeMs / HOUR_MS }
}

export async function refreshRevocationLists(deps: Deps): Promise<RevocationLists> {
  return await readRevocationLists(deps, await refreshLists(deps))
}
