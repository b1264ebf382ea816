import type { Reading } from '../ground.ts'
import { countLiveAnchors, listSources } from './lists/source-store.ts'
import { endOf } from './state.ts'

const liveOf = async ({ db }: Reading) => (await listSources(db)).filter(({ environment }) => environment === 'live')

export const countFailing = async (deps: Reading): Promise<number> =>
  (await liveOf(deps)).filter(({ failure }) => failure !== null).length

/** The time until the first list ends; infinite without lists. */
export const leastMsLeft = async (deps: Reading): Promise<number> =>
  Math.min(...(await liveOf(deps)).map(source => endOf(source) - deps.now()))

/** The time since the oldest look that succeeded; 0 without lists. */
export const oldestLookMs = async (deps: Reading): Promise<number> =>
  Math.max(0, ...(await liveOf(deps)).map(({ checkedAt, failingSince }) => deps.now() - (failingSince ?? checkedAt)))

export const countTrusted = async ({ db }: Reading): Promise<number> => await countLiveAnchors(db)
