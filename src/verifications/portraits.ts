// A portrait is compared with a face, not stored: that of a built-in template whose hint says so is
// never written to the disk. It is in memory for 15 minutes, while its holder is at the till, and
// ends with the process.
import { Lru } from '../lru.ts'
import { BUILTIN_TEMPLATES } from '../templates/builtin.ts'
import type { Clock } from '../time.ts'
import type { Verification } from './schema.ts'

/** A response code can be redeemed for ten minutes. */
export const PORTRAIT_MS = 15 * 60_000
const KEPT_MAX = 10_000
const KEPT_CHARS_MAX = 64 * 1024 * 1024

export type Result = Pick<Verification, 'claims' | 'credentials' | 'error'>

export type Portraits = {
  /** Called after the commit of the result that `storable` returned. */
  keep(id: string, result: Result): void
  /** The result with its portraits, while they are in memory. */
  show(id: string, stored: Result): Result
  /** True for a result that may have had a portrait, which is no longer in memory. */
  isGone(verification: Pick<Verification, 'id' | 'template' | 'credentials'>): boolean
  forget(id: string): void
  /** Forgets portraits after their time. */
  sweep(): void
}

export function createPortraits(now: Clock): Portraits {
  const kept = new Lru<{ result: Result; until: number; chars: number }>({
    countMax: KEPT_MAX,
    weightMax: KEPT_CHARS_MAX,
    weigh: ({ chars }) => chars,
  })
  return {
    keep(id, result) {
      kept.set(id, { result, until: now() + PORTRAIT_MS, chars: JSON.stringify(result).length })
    },
    show(id, stored) {
      const found = kept.get(id)
      return found && now() < found.until ? found.result : stored
    },
    isGone: ({ id, template, credentials = [] }) =>
      isUnkept(template) &&
      credentials.some(({ claims }) => Object.keys(claims).length > 0) &&
      now() >= (kept.get(id)?.until ?? 0),
    forget(id) {
      kept.delete(id)
    },
    sweep() {
      for (const id of kept.keys()) if ((kept.get(id)?.until ?? 0) <= now()) kept.delete(id)
    },
  }
}

/** The part of a result for the disk. Results of own queries and templates are stored whole. */
export function storable(template: string | null, result: Result): Result {
  if (!isUnkept(template ?? undefined) || !hasPortrait(result)) return result
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
