// Seals rows again after "rekey --data". Runs in the background, in small transactions that also store the progress: after a
// kill the next run continues there. At the end the old row keys are given up.
import { sealRecordsAgain } from '../audit/seal-again.ts'
import { createSealer, dropOldEpochs } from '../base/seal.ts'
import { pauseBetweenSteps } from '../base/time.ts'
import type { Db } from '../db/engine.ts'
import { findRootKey, loadMasterKey, openRootKey, replaceRootKey, wrapRootKey } from '../db/root-key.ts'
import type { Configured, Making, Reading, Reporting, Unsealing } from '../ground.ts'
import { sealFactorsAgain } from '../people/factors/factors.ts'
import { sealSignInsAgain } from '../people/log-in/sign-ins.ts'
import { sealAddressesAgain } from '../people/users/addresses.ts'
import { sealSigningKeysAgain } from '../signing/seal-again.ts'
import { sealTenantsAgain } from '../tenants/seal-again.ts'
import { countAll } from '../verifications/browse/figures.ts'
import { sealSessionsAgain } from '../verifications/rekey/seal-again.ts'
import type { Deps } from './deps.ts'
import { findProgress, keepProgress, lockProgress } from './store.ts'

/** Reads wait for a step: one of 20 verifications took 20 ms. */
const SESSIONS_BATCH = 4
const ROWS_BATCH = 40
const LOG_EVERY = 10_000

const STEPS = ['settings', 'sign_ins', 'records', 'sessions', 'done'] as const

export type Progress = {
  epoch: number
  step: (typeof STEPS)[number]
  after: string
  /** Verifications sealed so far, and their number at the beginning. */
  count: number
  total: number
}

/** `sealOthers`: the settings of features that this one does not know. */
export async function sealAgain(deps: Deps, sealOthers: (tx: Db) => Promise<void> = async () => {}): Promise<void> {
  const pause = pauseBetweenSteps()
  let progress = await begin(deps)
  while (progress.step !== 'done') {
    progress = await next(deps, progress, sealOthers)
    if (progress.after !== '') await pause()
  }
}

/** Undefined when everything is sealed under the newest keys. */
export async function readProgress(deps: Reading & Unsealing): Promise<Progress | undefined> {
  const progress = await begin(deps)
  return progress.step === 'done' ? undefined : progress
}

async function begin({ db, sealer }: Reading & Unsealing): Promise<Progress> {
  const found = await findProgress(db)
  const progress: Progress = { epoch: sealer.epoch, step: 'settings', after: '', count: 0, total: await countAll(db) }
  // The first row key was never another one.
  if (found === undefined && sealer.epoch === 0) return { ...progress, step: 'done' }
  return current(sealer, found) ?? progress
}

/** Undefined when the job is for older keys than the current ones. */
function current({ epoch }: Deps['sealer'], text: string | undefined): Progress | undefined {
  const progress: Progress | undefined = text === undefined ? undefined : JSON.parse(text)
  return progress?.epoch === epoch ? progress : undefined
}

async function next(deps: Deps, progress: Progress, sealOthers: (tx: Db) => Promise<void>): Promise<Progress> {
  const write = progress.step === 'settings' ? deps.writeSettings : deps.write
  const reached = await write(async tx => {
    const stored = current(deps.sealer, await lockProgress(tx))
    // Another process took the job over, because this one was slower than its lease.
    if (stored && (stored.step !== progress.step || stored.after !== progress.after)) return stored
    const reached = await runStep(deps, tx, progress, sealOthers)
    if (reached.step === 'done') await giveUpOldKeys(deps, tx)
    await keepProgress(tx, JSON.stringify(reached))
    return reached
  })
  logProgress(deps, progress, reached)
  return reached
}

async function runStep(deps: Deps, tx: Db, progress: Progress, sealOthers: (tx: Db) => Promise<void>): Promise<Progress> {
  const { step, after } = progress
  const goOn = (last: string | number | undefined): Progress =>
    last === undefined ? { ...progress, step: STEPS[STEPS.indexOf(step) + 1]!, after: '' } : { ...progress, after: String(last) }
  switch (step) {
    case 'settings':
      await sealTenantsAgain(deps, tx)
      await sealSigningKeysAgain(deps, tx)
      await sealFactorsAgain(deps, tx)
      await sealAddressesAgain(deps, tx)
      await sealOthers(tx)
      return goOn(undefined)
    case 'sign_ins':
      return goOn(await sealSignInsAgain(deps, tx, Number(after), ROWS_BATCH))
    case 'records':
      return goOn(await sealRecordsAgain(deps, tx, Number(after), ROWS_BATCH))
    case 'sessions': {
      const { last, count } = await sealSessionsAgain(deps, tx, { after, limit: SESSIONS_BATCH })
      return { ...goOn(last), count: progress.count + count }
    }
    case 'done':
      return progress
  }
}

/** Gives up the old row keys. Until then the old master key, with an old backup, opens rows that were not sealed again. */
async function giveUpOldKeys({ config, random }: Making & Configured, tx: Db): Promise<void> {
  const wrapper = createSealer(loadMasterKey(config.masterKey), random)
  const keyring = openRootKey(wrapper, (await findRootKey(tx))!)
  if (keyring.rows.size > 1) await replaceRootKey(tx, wrapRootKey(wrapper, dropOldEpochs(keyring)))
}

function logProgress({ log }: Reporting, before: Progress, { step, count, total }: Progress): void {
  const isTold = Math.floor(count / LOG_EVERY) > Math.floor(before.count / LOG_EVERY) || (step === 'done' && total > 0)
  if (isTold) log.info('keys.sealed_again', { count, detail: `of ${total} verifications` })
}
