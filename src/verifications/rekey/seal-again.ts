// Seals all that a verification has under the newest row key, and writes its search terms again, in one transaction.
import { sealRecordsOf } from '../../audit/seal-again.ts'
import { nextNameUnder, type Place } from '../../base/seal.ts'
import type { Db } from '../../db/engine.ts'
import { SEALED } from '../../db/sealed-columns.ts'
import type { Unsealing } from '../../ground.ts'
import { sealAttemptsAgain } from '../../webhooks/seal-again.ts'
import { KEY_REMEMBERED_MS } from '../create/idempotency.ts'
import type { ReplayRow } from '../create/replay-store.ts'
import type { Deps } from '../deps.ts'
import { findPortrait, updatePortrait } from '../portrait-store.ts'
import { openWith, type SessionSecrets } from '../present.ts'
import { deleteTerms, insertTerms } from '../term-store.ts'
import { createTerms, type SearchTerms, termsOf } from '../terms.ts'
import {
  findLoginOf,
  findReplays,
  listReplayHashes,
  listSealedEvents,
  listSessionsWithKey,
  lockSessionsAfter,
  renameKeyOf,
  renameReplay,
  type SealedRows,
  type SealedSession,
  updateEvent,
  updateLogin,
  updateResult,
  updateSession,
} from './sealed-store.ts'

type SealDeps = Unsealing & Pick<Deps, 'now'>

/** `last` is undefined at the end. */
export async function sealSessionsAgain(
  deps: SealDeps,
  tx: Db,
  wanted: { after: string; limit: number },
): Promise<{ last: string | undefined; count: number }> {
  const batch = await lockSessionsAfter(tx, wanted)
  for (const found of batch) await sealOne(deps, tx, found)
  return { last: batch.length === wanted.limit ? batch.at(-1)?.verification.id : undefined, count: batch.length }
}

async function sealOne(deps: SealDeps, tx: Db, { verification, result }: SealedRows): Promise<void> {
  const { id, tenantId } = verification
  const sessionKey = await deps.sessionKeys.of(tx, verification).catch(() => undefined)
  // The wrapping key is gone, which a start refuses; the other sessions must not wait for it.
  if (!sessionKey) return
  const events = await listSealedEvents(tx, verification)
  await sealSession(deps, tx, verification, sessionKey)
  const sealedResult = result && again(deps, SEALED.result(verification, result.salt, sessionKey), result.sealed)
  if (sealedResult) await updateResult(tx, verification, sealedResult)
  const portrait = await findPortrait(tx, verification, 0)
  const sealedPortrait = portrait && again(deps, SEALED.portrait(verification, portrait.salt, sessionKey), portrait.sealed)
  if (sealedPortrait) await updatePortrait(tx, verification, sealedPortrait)
  if (verification.loginClientId !== null) await sealLogin(deps, tx, verification, sessionKey)
  for (const event of events) {
    const sealed = again(deps, SEALED.event(verification, event.salt, sessionKey), event.sealed)
    if (sealed) await updateEvent(tx, event, sealed)
  }
  await sealAttemptsAgain(deps, tx, { id, tenantId, sessionKey })
  const ids = [verification, ...(result ? [result] : []), ...events].map(({ auditSeq }) => auditSeq)
  await sealRecordsOf(
    deps,
    tx,
    [...ids, verification.expirySeq].flatMap(id => id ?? []),
    sessionKey,
  )
}

async function sealLogin(deps: SealDeps, tx: Db, session: SealedSession, sessionKey: Uint8Array): Promise<void> {
  const login = await findLoginOf(tx, session)
  if (!login) return
  const { salt, sealed, sealedSub } = login
  await updateLogin(tx, login.id, {
    sealed: again(deps, SEALED.login(login, salt, sessionKey), sealed) ?? sealed,
    sealedSub: sealedSub && (again(deps, SEALED.loginSub(login, salt, sessionKey), sealedSub) ?? sealedSub),
  })
}

/** Damaged text stays as it is: a read of it reports the damage. */
function again({ sealer }: SealDeps, place: Place, sealed: Uint8Array): Buffer | undefined {
  try {
    return sealer.sealAgain(place, sealed)
  } catch {
    return undefined
  }
}

async function sealSession(deps: SealDeps, tx: Db, session: SealedSession, sessionKey: Uint8Array): Promise<void> {
  const { sealed, sealedQuery, sealedResponseKey, sealedDcRequests, sealedInPerson, sealedFetches, salt } = session
  await updateSession(tx, session, {
    ...(await termsAgain(deps, tx, session, sessionKey)),
    // No Idempotency-Key of that time is remembered any more.
    idempotencyHash: session.createdAt < deps.now() - KEY_REMEMBERED_MS ? null : session.idempotencyHash,
    sealed: sealed && (again(deps, SEALED.secrets(session, salt, sessionKey), sealed) ?? sealed),
    sealedQuery: sealedQuery && (again(deps, SEALED.query(session, salt, sessionKey), sealedQuery) ?? sealedQuery),
    sealedResponseKey:
      sealedResponseKey && (again(deps, SEALED.responseKey(session, salt, sessionKey), sealedResponseKey) ?? sealedResponseKey),
    sealedDcRequests:
      sealedDcRequests && (again(deps, SEALED.dcRequests(session, salt, sessionKey), sealedDcRequests) ?? sealedDcRequests),
    sealedInPerson: sealedInPerson && (again(deps, SEALED.inPerson(session, salt, sessionKey), sealedInPerson) ?? sealedInPerson),
    sealedFetches: sealedFetches && (again(deps, SEALED.fetches(session, salt, sessionKey), sealedFetches) ?? sealedFetches),
  })
}

/** Of a session that cannot be opened they stay as they are. */
async function termsAgain(deps: SealDeps, tx: Db, session: SealedSession, sessionKey: Uint8Array): Promise<SearchTerms> {
  const { terms, beginnings } = session
  const metadata = terms && metadataOf(deps, session, sessionKey)
  if (!metadata) return { terms, beginnings }
  const found = termsOf(createTerms(deps), session, metadata)
  if (found.terms?.equals(terms)) return found
  await deleteTerms(tx, session)
  await insertTerms(tx, { ...session, ...found })
  return found
}

function metadataOf(deps: SealDeps, session: SealedSession, sessionKey: Uint8Array): SessionSecrets['metadata'] {
  try {
    return openWith(deps, session, sessionKey).metadata
  } catch {
    return undefined
  }
}

const REPLAYS_BATCH = 100

/**
 * With a new data key: Idempotency-Keys stay known, under names that the earlier keys alone do not give. All at once, before
 * anybody looks one up again. An answer that cannot be opened stays as it is.
 */
export async function layerReplays(deps: SealDeps, tx: Db): Promise<void> {
  const next = nextNameUnder(deps.sealer.key('idempotency key'))
  for (const hashes of batchesOf(await listReplayHashes(tx))) {
    for (const row of await findReplays(tx, hashes)) {
      const hash = next(row.hash)
      await renameReplay(tx, row.hash, { hash, fingerprint: next(row.fingerprint), sealed: answerUnder(deps, row, hash) })
    }
  }
  for (const { idempotencyHash, ...session } of await listSessionsWithKey(tx, deps.now() - KEY_REMEMBERED_MS))
    await renameKeyOf(tx, session, next(idempotencyHash!))
}

function batchesOf<Row>(rows: readonly Row[]): Row[][] {
  return Array.from({ length: Math.ceil(rows.length / REPLAYS_BATCH) }, (_, i) =>
    rows.slice(i * REPLAYS_BATCH, (i + 1) * REPLAYS_BATCH),
  )
}

function answerUnder({ sealer, sessionKeys }: SealDeps, row: ReplayRow, hash: string): Buffer | null {
  const { salt, sealed, wrappingKey } = row
  if (!salt || !sealed || wrappingKey === null) return sealed
  const placeOf = (name: string) => SEALED.replay({ ...row, id: name }, salt, sessionKeys.derive(name, wrappingKey))
  try {
    return sealer.seal(placeOf(hash), sealer.open(placeOf(row.hash), sealed))
  } catch {
    return sealed
  }
}
