// Wiring: each feature's own state, made from the ground, in order. Features never import this file; each names
// what it needs in its own deps.ts.

import { createKeyUses, type KeyUses } from './access/key-uses.ts'
import { type KnownKeys, rememberKeys } from './access/known-keys.ts'
import { type Audit, createAudit } from './audit/append.ts'
import { type Config, readRegistrationCertificate } from './config.ts'
import type { Role } from './db/open.ts'
import { createGround, type Ground, type World } from './ground.ts'
import { createGuesses, type GuessBudgets } from './guesses/budgets.ts'
import { createNetworks, type Networks } from './guesses/networks.ts'
import { rememberTokenSigners, type TokenSigners } from './oidc/keys.ts'
import { createStatusChecker, type StatusChecker } from './openid4vp/status/list.ts'
import { type CrlChecker, createCrlChecker } from './openid4vp/trust/crl-check.ts'
import { createVerifier, type Verifier } from './openid4vp/verify.ts'
import { identifierListUri, statusListUri } from './sandbox/addresses.ts'
import { createSandbox, type Sandbox } from './sandbox/world.ts'
import { type RequestIdentities, type RequestSigners, rememberIdentities, rememberSigners } from './signing/keys.ts'
import { type Readers, rememberReaders } from './signing/readers.ts'
import { type Registrations, rememberRegistrations } from './signing/registration-choice.ts'
import { rememberVersions, type Versions } from './templates/resolve.ts'
import { createFirstTimes, type FirstTimes } from './tenants/first-times.ts'
import { type Anchors, rememberAnchors } from './trust/anchors.ts'
import { crlFetcher } from './trust/status/crl.ts'
import { createShelf } from './trust/status/kept-lists.ts'
import { createStaleLog } from './trust/status/stale.ts'
import { isLocalList, readIdentifiers, statusFetcher } from './trust/status/status.ts'
import { type Changes, createChanges } from './verifications/changes.ts'
import { type Creations, shareCreations } from './verifications/create/creations.ts'
import { createErasures, type Erasures } from './verifications/erasure/erasures.ts'
import { type Attempts, createAttempts } from './webhooks/attempts.ts'

export type Deps = Ground & {
  audit: Audit
  keys: KnownKeys
  keyUses: KeyUses
  networks: Networks
  guesses: GuessBudgets
  versions: Versions
  changes: Changes
  creations: Creations
  erasures: Erasures
  attempts: Attempts
  firstTimes: FirstTimes
  identity: RequestIdentities
  requestSigner: RequestSigners
  readers: Readers
  tokenSigners: TokenSigners
  /** A JWT that wallets are shown; undefined without VIDIMUS_REGISTRATION_CERT. */
  registrationCertificate: string | undefined
  registrations: Registrations
  anchors: Anchors
  verifier: Verifier
  status: StatusChecker
  crls: CrlChecker
  sandbox: () => Promise<Sandbox>
}

export async function createDeps(config: Config, world: World, role: Role): Promise<Deps> {
  const registrationCertificate = readRegistrationCertificate(config.wallet.registrationCertFile)
  const ground = await createGround(config, world, role)
  const { now } = ground
  const audit = createAudit(ground.sealer, ground.random, ground.looseEntries)
  const sandbox = createSandbox(ground)
  const shelf = createShelf(ground)
  // Asked each time: the public URL may be known only once the service listens.
  const isSandboxList = (uri: string) => uri === statusListUri(config.publicUrl) || uri === identifierListUri(config.publicUrl)
  return {
    ...ground,
    audit,
    keys: rememberKeys(ground),
    keyUses: createKeyUses(ground),
    networks: createNetworks(ground),
    guesses: createGuesses(ground),
    versions: rememberVersions(),
    changes: createChanges(ground),
    creations: shareCreations(ground),
    erasures: createErasures({ ...ground, audit }),
    attempts: createAttempts(ground),
    firstTimes: createFirstTimes(),
    identity: rememberIdentities(ground),
    requestSigner: rememberSigners(ground),
    readers: rememberReaders(ground),
    tokenSigners: rememberTokenSigners(ground),
    registrationCertificate,
    registrations: rememberRegistrations(ground, registrationCertificate),
    anchors: rememberAnchors({ ...ground, sandbox }),
    verifier: createVerifier(ground.turns.next),
    // The sandbox issuer's lists are on plain http in development; they are read without a network.
    status: createStatusChecker(statusFetcher({ ...ground, sandbox }), now, {
      allowHttp: isSandboxList,
      isLocal: isLocalList(config, isSandboxList),
      readIdentifiers,
      shelf,
      maxAgeMs: config.statusMaxAgeMs,
      onStale: createStaleLog(ground),
    }),
    crls: createCrlChecker(crlFetcher({ ...ground, sandbox }), now, { shelf }),
    sandbox,
  }
}
