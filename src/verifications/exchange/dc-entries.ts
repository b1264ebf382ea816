// Requests of pages through the browser: for each origin a nonce and two keys of its own, sealed in
// the session and deleted when it ends. One key never serves two schemes, and none serves the QR
// code.

import { newNonce } from '../../base/ids.ts'
import type { Db } from '../../db/engine.ts'
import { SEALED } from '../../db/sealed-columns.ts'
import type { Making, Reading, Sealing, Writing } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import { encryptionInfo } from '../../openid4vp/exchange/dc-request.ts'
import { keepDcRequests } from '../end/answer-store.ts'
import type { OpenSession } from '../read.ts'
import { lockSession } from '../store.ts'
import { recordEvent } from '../timeline.ts'
import { newResponseKey, type PrivateJwk } from './response-key.ts'

export type DcEntry = {
  origin: string
  nonce: string
  key: PrivateJwk
  isoKey: PrivateJwk
  /** The text that was sent: transcripts are made over it. */
  encryptionInfo: string
  /** All that this session can be asked by. */
  protocols: string[]
}

/** A tenant's 20 origins, and the service's own. */
const ENTRIES_MAX = 21

type EntryDeps = Reading & Writing & Sealing

/** The entry for this origin: the same for every request of a session, made at the first. */
export async function keepDcEntry(deps: EntryDeps, session: OpenSession, origin: string, protocols: string[]): Promise<DcEntry> {
  const known = await findDcEntry(deps, session, origin)
  if (known) return known
  const fresh = newEntry(deps, origin, protocols)
  return await deps.write(async tx => {
    // The session is locked: of two pages that ask at once, neither loses its entry.
    const current = await lockSession(tx, { tenantId: session.tenantId, environment: session.environment }, session.id)
    if (!current) throw apiError('session_not_found')
    const entries = await readEntries(deps, tx, current)
    const made = entries.find(entry => entry.origin === origin)
    if (made) return made
    if (entries.length >= ENTRIES_MAX) throw apiError('origin_not_allowed', { message: 'Too many origins ask for this session.' })
    const place = SEALED.dcRequests(current, current.salt, await deps.sessionKeys.of(tx, current))
    const sealed = deps.sealer.seal(place, JSON.stringify([...entries, fresh]))
    // The session ended during this request, and its entries with it.
    if (!(await keepDcRequests(tx, current, sealed))) throw apiError('session_expired')
    await recordEvent(deps, tx, current, 'dc_requested', { origin, protocols })
    return fresh
  })
}

export async function findDcEntry(deps: EntryDeps, session: OpenSession, origin: string): Promise<DcEntry | undefined> {
  return (await readEntries(deps, deps.db, session)).find(entry => entry.origin === origin)
}

async function readEntries({ sealer, sessionKeys }: EntryDeps, db: Db, session: OpenSession): Promise<DcEntry[]> {
  if (session.sealedDcRequests === null) return []
  return JSON.parse(
    sealer.open(SEALED.dcRequests(session, session.salt, await sessionKeys.of(db, session)), session.sealedDcRequests),
  )
}

export function newEntry(deps: Making, origin: string, protocols: string[]): DcEntry {
  const nonce = newNonce(deps.random)
  const isoKey = newResponseKey(deps)
  return {
    origin,
    nonce,
    key: newResponseKey(deps),
    isoKey,
    encryptionInfo: encryptionInfo(Buffer.from(nonce, 'base64url'), isoKey),
    protocols,
  }
}
