import { utcDay } from '../base/time.ts'
import { readOwnerAddresses } from '../people/users/addresses.ts'
import { ALARMS, findCauses } from './causes.ts'
import type { Deps } from './deps.ts'
import { clearOthers, deleteOver, listRaised, oweMail, raise } from './store.ts'

/** Raises and clears alerts by what is found now. Mail about each is owed once a day while it lasts. */
export async function lookForAlerts(deps: Deps): Promise<void> {
  const { answered, causes } = await findCauses(deps)
  const unsent = deps.config.mail ? [...(await readOwnerAddresses(deps)).keys()] : []
  const at = deps.now()
  const day = utcDay(at)
  const { raised, cleared } = await deps.write(async tx => {
    const raised: string[] = []
    for (const cause of causes) {
      if (await raise(tx, cause, at)) raised.push(cause.finding.code)
      // Without a receiver it stays open: an address may be confirmed later in the day.
      if (unsent.length > 0) await oweMail(tx, cause, { unsent, day, at })
    }
    const over = await clearOthers(
      tx,
      answered,
      causes.map(({ cause }) => cause),
    )
    await deleteOver(tx, day)
    return { raised, cleared: over.map(({ finding }) => finding.code) }
  })
  for (const code of raised) deps.log.warn('alert.raised', { detail: code })
  for (const code of cleared) deps.log.info('alert.cleared', { detail: code })
}

/** The number of raised alerts of each code. */
export async function countRaised({ db }: Pick<Deps, 'db'>): Promise<[{ cause: string }, number][]> {
  const raised = (await listRaised(db)).map(({ finding }) => finding.code)
  return ALARMS.map(cause => [{ cause }, raised.filter(code => code === cause).length])
}
