import { canonicalJson, sha256Hex } from '../base/hash.ts'
import { Lru } from '../base/lru.ts'
import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import { narrowed } from '../openid4vp/dcql/credential-sets.ts'
import type { DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import type { Profile } from '../openid4vp/exchange/request-object.ts'
import type { Rule } from '../openid4vp/rules.ts'
import type { Language } from '../words/languages.ts'
import type { Format, Translations } from '../words/templates.ts'
import { BUILTIN_TEMPLATES, type Template } from './builtin.ts'
import { ALIASES, formatsOf, mayBeOwn } from './forms.ts'
import { effectiveRules } from './rules.ts'
import { type Share, sharesOf } from './shares.ts'
import { findTemplate, findVersion, keepVersion, markLive } from './store.ts'

/** A query and the rules of its answer; null rules are the default. */
export type Question = { query: DcqlQuery; rules: readonly Rule[] | null }

/** As it was when the session was made, with what the holder may choose between. */
export type FixedQuestion = Question & { shares: Share[] }

/** The current version of a template, and its name. */
export type ResolvedTemplate = Question & {
  /** Undefined: the operator's choice. */
  profile?: Profile
  /** The purpose for creations without one of their own. */
  purpose?: string
  /** The same in further languages. */
  purposes?: Partial<Record<Language, string>>
  /** A tenant's own template that no live verification has used. */
  isNewToLive?: boolean
  version: string
}

const versionOf = ({ query, rules }: Question): string => sha256Hex(canonicalJson({ query, rules }))

type Builtin = { byKey: ReadonlyMap<string, ResolvedTemplate>; byVersion: ReadonlyMap<string, FixedQuestion> }

/** Named by their content when a template is first asked for: a start does not wait for the hashes. */
let builtin: Builtin | undefined

function resolveBuiltin(): Builtin {
  const aliases = [...ALIASES.values()].map(({ key, query, template: { profile } }) => ({ key, query, profile }))
  const resolved = [...BUILTIN_TEMPLATES.values(), ...aliases].map(({ key, query, profile }) => {
    const version = versionOf({ query, rules: null })
    // `haip` is the default, which an operator may change; only another profile is part of the template.
    return [key, { query, rules: null, ...(profile !== 'haip' && { profile }), version }] as const
  })
  return {
    byKey: new Map(resolved),
    // Default rules are spelled out here: every answer is judged by them.
    byVersion: new Map(
      resolved.map(([, { version, query }]) => [version, { query, rules: effectiveRules(query, null), shares: sharesOf(query) }]),
    ),
  }
}

export async function resolveTemplate(db: Db, tenantId: string, key: string): Promise<ResolvedTemplate | undefined> {
  builtin ??= resolveBuiltin()
  const known = builtin.byKey.get(key)
  if (known && !mayBeOwn(key)) return known
  const own = await findTemplate(db, tenantId, key)
  if (!own) return known
  const { query, rules, profile, purpose, translations, liveSince } = own
  return {
    query,
    rules,
    profile: profile ?? undefined,
    ...(purpose !== null && { purpose, purposes: purposesIn(translations) }),
    isNewToLive: liveSince === null,
    version: versionOf(own),
  }
}

const purposesIn = (translations: Translations | null): ResolvedTemplate['purposes'] =>
  translations
    ? Object.fromEntries(
        Object.entries(translations).flatMap(([language, { purpose }]) => (purpose ? [[language, purpose]] : [])),
      )
    : undefined

/** The template in these formats only, as a version of its own. */
export function inFormats(key: string, resolved: ResolvedTemplate, formats: readonly Format[]): ResolvedTemplate {
  const refuse = (reason: string) => apiError('invalid_request', { message: `formats: ${reason}` })
  const had = formatsOf(resolved.query)
  const left = had.filter(format => !formats.includes(format))
  if (left.length === 0) return resolved
  const missing = formats.find(format => !had.includes(format))
  if (missing) throw refuse(`the template ${key} has no form in ${missing}; it has ${had.join(', ')}`)
  const query = narrowed(resolved.query, new Set(formats))
  if (!query) throw refuse(`without ${left.join(', ')} this template cannot be answered`)
  return { ...resolved, query, version: versionOf({ query, rules: resolved.rules }) }
}

export type Made = { template: string | null; templateVersion: string | null }

/** The built-in template that a session was made with, under any of its names. */
export function builtinOf({ template, templateVersion }: Made): Template | undefined {
  if (template === null) return undefined
  const alias = ALIASES.get(template)
  if (!alias || !mayBeOwn(template)) return alias?.template ?? BUILTIN_TEMPLATES.get(template)
  builtin ??= resolveBuiltin()
  return builtin.byKey.get(template)?.version === templateVersion ? alias.template : undefined
}

/** Stores a version: the template may change, the query and rules of a session must not. */
export async function fixVersion(tx: Db, hash: string, { query, rules }: Question): Promise<void> {
  await keepVersion(tx, { hash, query, rules: rules && [...rules] })
}

export type Versions = {
  find(db: Db, version: string): Promise<FixedQuestion | undefined>
}

const VERSIONS_MAX = 1000
const VERSION_CHARS_MAX = 4 * 1024 * 1024

/** A version is named by its content: built-in ones need no look-up, and what was read once stays right. */
export function rememberVersions(): Versions {
  const known = new Lru<{ question: FixedQuestion; chars: number }>({
    countMax: VERSIONS_MAX,
    weightMax: VERSION_CHARS_MAX,
    weigh: ({ chars }) => chars,
  })
  return {
    async find(db, version) {
      builtin ??= resolveBuiltin()
      const found = builtin.byVersion.get(version) ?? known.get(version)?.question
      if (found) return found
      const stored = await findVersion(db, version)
      if (!stored) return undefined
      const question = { ...stored, shares: sharesOf(stored.query) }
      known.set(version, { question, chars: JSON.stringify(question).length })
      return question
    },
  }
}

/** Remembers that live verifications use a template: from then on its changes need a fresh log-in, though all of them were erased. */
export async function noteLiveUse(tx: Db, tenantId: string, key: string, at: number): Promise<void> {
  await markLive(tx, { tenantId, key }, at)
}

/**
 * The query with the purpose where wallets look for it. DCQL 1.0 has no such member and lets wallets skip it; those that still
 * read draft 22's `credential_sets[].purpose` show it to the holder.
 */
export function withPurpose(query: DcqlQuery, purpose: string | undefined): DcqlQuery {
  if (purpose === undefined) return query
  // One option with everything means what no sets mean: every credential is required (OpenID4VP 1.0 § 6.4.2).
  const sets = query.credential_sets ?? [{ options: [query.credentials.map(({ id }) => id)] }]
  return { ...query, credential_sets: sets.map(set => ({ ...set, purpose })) }
}
