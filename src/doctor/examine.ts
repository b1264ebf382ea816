// Finds what would stop a real wallet or webhook, and what endangers the data. The checks run in parallel, each with a time
// limit; one that fails is a problem with a name and does not end the others. Nothing is changed, and no message is sent.
import { type CheckFailure, type Finding, runCheck } from '../db/check.ts'
import { CHECKS, type CheckName } from './check.ts'
import { checkDatabase } from './database-check.ts'
import { checkDcApi } from './dc-check.ts'
import type { Deps } from './deps.ts'
import { checkInPerson } from './in-person-check.ts'
import { checkWrappingKeys } from './key-checks.ts'
import { checkClock, checkOpenFiles } from './machine-checks.ts'
import { checkMail } from './mail-check.ts'
import { checkOpenIdProvider } from './openid-check.ts'
import { checkSecondFactor } from './people-check.ts'
import { checkPublicUrl, checkTls } from './public-checks.ts'
import { checkRegistration } from './registration-check.ts'
import { checkOfEngine, type Scene, sceneOf } from './scene.ts'
import { checkClientId, checkSigning } from './signing-checks.ts'
import { checkAnchors, checkTrustLists } from './trust-checks.ts'
import { checkStatusLists } from './wallet-checks.ts'
import { checkExtraCa, checkWebhooks } from './webhook-checks.ts'

const HOW = {
  server: scene => checkOfEngine(scene, 'server'),
  public_url: checkPublicUrl,
  tls: checkTls,
  client_id: checkClientId,
  signing_certificate: checkSigning,
  registration: checkRegistration,
  dc_api: checkDcApi,
  in_person: checkInPerson,
  openid_provider: checkOpenIdProvider,
  trust_anchors: checkAnchors,
  trust_lists: checkTrustLists,
  status_lists: checkStatusLists,
  webhooks: checkWebhooks,
  extra_ca: checkExtraCa,
  clock: checkClock,
  database: checkDatabase,
  master_key: scene => checkOfEngine(scene, 'master_key'),
  wrapping_keys: checkWrappingKeys,
  disk: scene => checkOfEngine(scene, 'disk'),
  backups: scene => checkOfEngine(scene, 'backups'),
  open_files: checkOpenFiles,
  second_factor: checkSecondFactor,
  mail: checkMail,
} satisfies Record<CheckName, (scene: Scene) => Promise<Finding>>

export type Found = CheckFailure | Awaited<ReturnType<(typeof HOW)[CheckName]>>

export type Check = { name: CheckName } & Found

/** `isServer` is true in the service itself, and false in a command beside it. */
export async function examine(
  deps: Deps,
  isServer: boolean,
  names: readonly CheckName[] = CHECKS,
  callsOthers = true,
): Promise<Check[]> {
  const scene = sceneOf(deps, { isServer, names, callsOthers })
  // The disk of PostgreSQL is its server's.
  const checks = deps.config.database ? names.filter(name => name !== 'disk') : names
  return await Promise.all(checks.map(async name => ({ name, ...(await runCheck<Found>(() => HOW[name](scene))) })))
}
