// A portrait is compared with a face, not stored: that of a built-in template whose hint says so is kept for 15
// minutes, while its holder is at the till. On SQLite it is in memory and ends with the process; several nodes share
// it in an unlogged table, sealed (portraits-rows.ts).
import type { Db } from '../db/engine.ts'
import { Lru } from '../lru.ts'
import { BUILTIN_TEMPLATES } from '../templates/builtin.ts'
import type { Clock } from '../time.ts'
import type { Verification } from './schema.ts'
import type { VerificationRow } from './store.ts'

/** A response code can be redeemed for ten minutes. */
export const PORTRAIT_MS = 15 * 60_000
const KEPT_MAX = 10_000
const KEPT_CHARS_MAX = 64 * 1024 * 1024

export type Result = Pick<Verification, 'claims' | 'credentials' | 'error'>

type Session = Pick<VerificationRow, 'id' | 'tenantId' | 'template'> & { sessionKey: Uint8Array | undefined }

export type Portraits = {
  /** Called in the transaction of the result that `storable` returned. */
  keep(tx: Db, session: Session, result: Result): Promise<void>
  /** The result with its portraits, while they are kept. */
  show(session: Session, stored: Result): Promise<Result>
  /** True for a result that may have had a portrait, which is no longer kept. */
  isGone(tenantId: string, verification: Pick<Verification, 'id' | 'template' | 'credentials'>): Promise<boolean>
  /** Called in the transaction that deletes the result. */
  forget(tx: Db, id: string): Promise<void>
  /** Forgets portraits after their time. */
  sweep(): Promise<void>
}

export function portraitsInMemory(now: Clock): Portraits {
  const kept = new Lru<{ result: Result; until: number; chars: number }>({
    countMax: KEPT_MAX,
    weightMax: KEPT_CHARS_MAX,
    weigh: ({ chars }) => chars,
  })
  return {
    async keep(_, { id }, result) {
      kept.set(id, { result, until: now() + PORTRAIT_MS, chars: JSON.stringify(result).length })
    },
    async show({ id }, stored) {
      const found = kept.get(id)
      return found && now() < found.until ? found.result : stored
    },
    isGone: async (_, verification) => mayHaveHad(verification) && now() >= (kept.get(verification.id)?.until ?? 0),
    async forget(_, id) {
      kept.delete(id)
    },
    async sweep() {
      for (const id of kept.keys()) if ((kept.get(id)?.until ?? 0) <= now()) kept.delete(id)
    },
  }
}

/** A portrait may have been presented: the template asks for one, and something was answered. */
export const mayHaveHad = ({ template, credentials = [] }: Pick<Verification, 'template' | 'credentials'>): boolean =>
  isUnkept(template) && credentials.some(({ claims }) => Object.keys(claims).length > 0)

/** The part of a result for the disk. Results of own queries and templates are stored whole. */
export function storable(template: string | null, result: Result): Result {
  if (!hasPortrait(result) || !isUnkept(template ?? undefined)) return result
  const { claims, credentials } = result
  return {
    ...result,
    ...(claims && { claims: withoutPortrait(claims) }),
    ...(credentials && { credentials: credentials.map(each => ({ ...each, claims: withoutPortrait(each.claims) })) }),
  }
}

const PORTRAITS = ['portrait', 'picture']

/** True for a template that asks for a portrait, to be looked at only. */
function isUnkept(template: string | undefined): boolean {
  const { query, retention } = BUILTIN_TEMPLATES.get(template ?? '') ?? {}
  const asked = query?.credentials.flatMap(({ claims = [] }) => claims.map(({ path }) => path.at(-1))) ?? []
  return retention !== 'claims' && asked.some(name => typeof name === 'string' && PORTRAITS.includes(name))
}

const hasPortrait = ({ claims = {}, credentials = [] }: Result): boolean =>
  [claims, ...credentials.map(each => each.claims)].some(each => withoutPortrait(each) !== each)

/** An SD-JWT has it on the top level, an mdoc in a name space. */
function withoutPortrait(claims: Record<string, unknown>): Record<string, unknown> {
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
