// Tells what would stop a real wallet or webhook, and what endangers the data. Every check is bounded in time, they run beside each other, and one
// that fails itself is a problem with a name, never the end of the others. Nothing is changed, and nobody is sent a message.

import { describeFailure } from '../log.ts'
import { within } from '../time.ts'
import { CHECKS, type Check, type CheckName, type Found, problem } from './check.ts'
import type { Deps } from './deps.ts'
import { checkDatabase } from './integrity.ts'
import { checkBackups, checkClock, checkDisk, checkMasterKey, checkOpenFiles, checkServer } from './machine-checks.ts'
import { checkPublicUrl, checkTls } from './public-checks.ts'
import { type Scene, sceneOf } from './scene.ts'
import { checkAnchors, checkClientId, checkSigning, checkStatusLists } from './wallet-checks.ts'
import { checkExtraCa, checkWebhooks } from './webhook-checks.ts'

const CHECK_MS_MAX = 5000

const HOW: Record<CheckName, (scene: Scene) => Promise<Found>> = {
  server: checkServer,
  public_url: checkPublicUrl,
  tls: checkTls,
  client_id: checkClientId,
  signing_certificate: checkSigning,
  trust_anchors: checkAnchors,
  status_lists: checkStatusLists,
  webhooks: checkWebhooks,
  extra_ca: checkExtraCa,
  clock: checkClock,
  database: checkDatabase,
  master_key: checkMasterKey,
  disk: checkDisk,
  backups: checkBackups,
  open_files: checkOpenFiles,
}

/** `isServer` when the service itself asks, and not a command beside it. */
export async function examine(deps: Deps, isServer: boolean): Promise<Check[]> {
  const scene = sceneOf(deps, isServer)
  return await Promise.all(CHECKS.map(async name => ({ name, ...(await run(() => HOW[name](scene))) })))
}

async function run(check: () => Promise<Found>): Promise<Found> {
  const tooLate = () =>
    problem(`This took longer than ${CHECK_MS_MAX / 1000} seconds.`, 'Look again when the machine is less busy.')
  try {
    return await within(CHECK_MS_MAX, check(), tooLate)
  } catch (error) {
    return problem(`The check itself failed (${describeFailure(error)}).`, 'Look again; if it stays, report this line.')
  }
}
