// The one registration certificate that goes with a request (ARF RPRC_19). Wallets compare it with
// the access certificate and with the query: the best is the one that says exactly this much.

import { Lru } from '../base/lru.ts'
import type { Reading, Remembering } from '../ground.ts'
import type { DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import { claimCount, coverage, holderOf } from '../openid4vp/exchange/registration.ts'
import { builtinOf } from '../templates/resolve.ts'
import type { Signer } from './keys.ts'
import { listRegistrations, type RegistrationRow } from './registration-store.ts'

/** Templates and their versions of all tenants that are asked for lately. */
const CHOICES_MAX = 1000

type AskedSession = {
  tenantId: string
  template: string | null
  /** The version of the template; null for a query without one. */
  templateVersion: string | null
  signingKeyId: string
}

export type Registrations = (session: AskedSession, query: DcqlQuery, signer: Signer) => Promise<string | undefined>

/** `fallback` is that of VIDIMUS_REGISTRATION_CERT. A choice is made again after a change of settings, and when one begins or ends. */
export function rememberRegistrations(deps: Reading & Remembering, fallback: string | undefined): Registrations {
  let known: { version: number; until: number; rows: RegistrationRow[]; choices: Lru<{ jwt?: string }> } | undefined
  return async (session, query, signer) => {
    const version = await deps.settingsVersion()
    const at = deps.now()
    if (known?.version !== version || at >= known.until) {
      const rows = await listRegistrations(deps.db)
      known = { version, until: nextChange(rows, at), rows, choices: new Lru({ countMax: CHOICES_MAX }) }
    }
    const { rows, choices } = known
    const stored = rows.length > 0 ? storedFor(rows, session.tenantId, signer) : []
    if (stored.length === 0) return signer.tenantId === null ? fallback : undefined
    const { tenantId, template, templateVersion, signingKeyId } = session
    const names = [template, builtinOf(session)?.key ?? null]
    const key = `${signingKeyId} ${tenantId} ${template} ${templateVersion}`
    const chosen = (templateVersion !== null && choices.get(key)) || { jwt: choose(stored, { at, signer, names, query })?.jwt }
    if (templateVersion !== null) choices.set(key, chosen)
    return chosen.jwt
  }
}

const nextChange = (rows: readonly RegistrationRow[], at: number): number =>
  Math.min(Number.POSITIVE_INFINITY, ...rows.flatMap(row => [row.notBefore ?? 0, row.notAfter ?? 0]).filter(time => time > at))

/** A tenant's own; with the installation's certificate also those of the installation, when the tenant has none. */
export function storedFor(
  rows: readonly RegistrationRow[],
  tenantId: string,
  signer: { tenantId: string | null },
): RegistrationRow[] {
  const own = rows.filter(row => row.tenantId === tenantId)
  return own.length > 0 || signer.tenantId !== null ? own : rows.filter(row => row.tenantId === null)
}

type RequestFacts = {
  at: number
  signer: { organization: string | undefined }
  /** The name that the template was asked for by, and the template's own. */
  names: readonly (string | null)[]
  query: DcqlQuery
}

/** The one assigned to the template; else of those that cover the query the narrowest; else the nearest. */
export function choose(
  stored: readonly RegistrationRow[],
  { at, signer, names, query }: RequestFacts,
): RegistrationRow | undefined {
  // The newest first: of two that fit equally it replaces the other.
  const usable = stored.filter(row => isCurrent(row, at) && isOfSame(row, signer.organization)).toReversed()
  for (const name of names) {
    const assigned = usable.find(({ templates }) => name !== null && templates.includes(name))
    if (assigned) return assigned
  }
  const judged = usable.map(row => ({ row, claims: claimCount(row.credentials), ...coverage(row.credentials, query) }))
  const covering = judged.filter(({ asked, covered }) => covered === asked)
  const [best] = (covering.length > 0 ? covering : judged).toSorted(
    (one, other) => other.covered - one.covered || compare(one.claims, other.claims),
  )
  return best?.row
}

/** Infinite ones are equal. */
const compare = (one: number, other: number): number => (one === other ? 0 : one - other)

export const isCurrent = ({ notBefore, notAfter }: RegistrationRow, at: number): boolean =>
  (notBefore === null || notBefore <= at) && (notAfter === null || notAfter > at)

/** Whether it names the organisation of the access certificate, where that names one. */
export function isOfSame(row: RegistrationRow, organization: string | undefined): boolean {
  if (organization === undefined) return true
  const holder = holders.get(row) ?? holderOf(row)
  holders.set(row, holder)
  return holder.trim().toUpperCase() === organization.trim().toUpperCase()
}

/** Requests with queries of their own choose each time. */
const holders = new WeakMap<RegistrationRow, string>()
