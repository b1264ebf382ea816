// A portrait is compared with a face, and deleted. A merchant has 15 minutes for it; at a till it waits for the comparison,
// two minutes at most, and goes with it (compare.ts). It is a sealed row beside the result until then. Own templates and
// queries keep theirs.

import { isObject } from '../base/members.ts'
import { SALT_BYTES } from '../base/seal.ts'
import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Reading, Sealing, Unsealing } from '../ground.ts'
import { PORTRAITS } from '../templates/builtin.ts'
import { builtinOf } from '../templates/resolve.ts'
import { findPortrait, insertPortrait } from './portrait-store.ts'
import type { Verification } from './schema.ts'
import type { SessionKey, VerificationRow } from './store.ts'

/** A response code can be redeemed for ten minutes. */
export const PORTRAIT_MS = 15 * 60_000

export type Result = Pick<Verification, 'claims' | 'credentials' | 'error'>

type Keyed = { sessionKey: Uint8Array }

/** Called in the transaction of the result that `withoutPortrait` gave. */
export async function keepPortrait(
  { random, sealer }: Sealing,
  tx: Db,
  { id, tenantId, sessionKey }: SessionKey & Keyed,
  { result, keptUntil }: { result: Result; keptUntil: number },
): Promise<void> {
  const salt = Buffer.from(random(SALT_BYTES))
  const place = SEALED.portrait({ id, tenantId }, salt, sessionKey)
  const sealed = sealer.seal(place, JSON.stringify(result))
  await insertPortrait(tx, { verificationId: id, tenantId, keptUntil, salt, sealed })
}

/** The result with its portrait; undefined once it is gone. */
export async function openPortrait(
  { now, sealer }: Reading & Unsealing,
  db: Db,
  session: SessionKey & Keyed,
): Promise<Result | undefined> {
  const found = await findPortrait(db, session, now())
  return found && JSON.parse(sealer.open(SEALED.portrait(session, found.salt, session.sessionKey), found.sealed))
}

type Made = Pick<VerificationRow, 'template' | 'templateVersion'>
type Answered = Pick<VerificationRow, 'id' | 'tenantId' | 'respondedAt'> & Made & Keyed

/** The result as a merchant reads it: with its portrait, while that is kept. */
export async function withKeptPortrait(deps: Reading & Unsealing, session: Answered, stored: Result): Promise<Result> {
  const isOver = (session.respondedAt ?? 0) + PORTRAIT_MS <= deps.now()
  if (isOver || !mayHaveHad(session, stored)) return stored
  return (await openPortrait(deps, deps.db, session)) ?? stored
}

/** True for a result that may have had a portrait, which is no longer kept. */
export async function isPortraitGone(
  { db, now }: Reading,
  session: SessionKey & Made,
  verification: Verification,
): Promise<boolean> {
  return mayHaveHad(session, verification) && !(await findPortrait(db, session, now()))
}

/** A portrait may have been presented: the template asks for one, and something was answered. */
const mayHaveHad = (session: Made, { credentials = [] }: Result): boolean =>
  isUnkept(session) && credentials.some(({ claims }) => Object.keys(claims).length > 0)

/** True for a template that asks for a portrait, to be looked at only. */
export function isUnkept(session: Made): boolean {
  const { query, retention } = builtinOf(session) ?? {}
  const asked = query?.credentials.flatMap(({ claims = [] }) => claims.map(({ path }) => path.at(-1))) ?? []
  return retention !== 'claims' && asked.some(name => typeof name === 'string' && PORTRAITS.includes(name))
}

export const hasPortrait = ({ claims = {}, credentials = [] }: Result): boolean =>
  [claims, ...credentials.map(each => each.claims)].some(each => dropPortrait(each) !== each)

export function withoutPortrait({ claims, credentials, ...rest }: Result): Result {
  return {
    ...rest,
    ...(claims && { claims: dropPortrait(claims) }),
    ...(credentials && { credentials: credentials.map(each => ({ ...each, claims: dropPortrait(each.claims) })) }),
  }
}

/** An SD-JWT has it on the top level, an mdoc in a name space. */
function dropPortrait(claims: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(claims)
    .filter(([name]) => !PORTRAITS.includes(name))
    .map(([name, value]) => [name, isObject(value) ? withoutMembers(value) : value] as const)
  const isSame = kept.length === Object.keys(claims).length && kept.every(([name, value]) => claims[name] === value)
  return isSame ? claims : Object.fromEntries(kept)
}

function withoutMembers(members: Record<string, unknown>): Record<string, unknown> {
  if (!PORTRAITS.some(name => Object.hasOwn(members, name))) return members
  return Object.fromEntries(Object.entries(members).filter(([name]) => !PORTRAITS.includes(name)))
}
