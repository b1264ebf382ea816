// What a query lets the holder choose between, for the hosted page. It is worked out once, when the session or the version of its
// template is made: a query may combine its parts in hundreds of ways, and anybody with the link may read them.
import type { CredentialQuery, DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import { mergedName } from '../openid4vp/merge-claims.ts'
import { typesOf } from './build.ts'

/** Merged names of claims; vct or doctype of the documents that have them. */
type Alternative = { claims: string[]; documents: string[] }

/** One part of a query; the holder shares one alternative of it. */
export type Share = {
  required: boolean
  alternatives: Alternative[]
  /** The alternatives that are too many to be listed, and their documents that are not listed elsewhere. */
  more?: { count: number; documents: string[] }
}

/** Names and types in all shares together: about as much as the largest query has itself. */
const CHARS_MAX = 64 * 1024
/** Of JSON, around each text. */
const CHARS_AROUND = 3

/** Equal names of claims have the same number, so that alternatives are compared without spelling them out. */
type Names = { number: number; names: readonly string[]; chars: number }
type Way = { names: readonly Names[]; credentials: Set<CredentialQuery> }

export function sharesOf({ credentials, credential_sets }: DcqlQuery): Share[] {
  const sets = credential_sets ?? credentials.map(({ id }) => ({ options: [[id]], required: true }))
  const parts = new Map(credentials.map(credential => [credential.id, credential]))
  const names = new NameLists()
  const listed = new Set<string>()
  let left = CHARS_MAX
  return sets.map(({ options, required = true }) => {
    const ways = waysOf(options, parts, names)
    const alternatives = new Map<string, { claims: string[]; documents: Set<string> }>()
    let count = 0
    for (const way of ways) {
      left -= charsOf(way)
      if (left < 0) break
      count++
      const claims = [...new Set(way.names.flatMap(list => list.names))]
      const key = JSON.stringify(claims.toSorted())
      const { documents } = alternatives.get(key) ?? added(alternatives, key, claims)
      for (const type of typesIn(way)) documents.add(type)
    }
    for (const { documents } of alternatives.values()) for (const type of documents) listed.add(type)
    return {
      required,
      alternatives: [...alternatives.values()].map(({ claims, documents }) => ({ claims, documents: [...documents] })),
      ...(count < ways.length && { more: { count: ways.length - count, documents: unlisted(ways.slice(count), listed) } }),
    }
  })
}

/** Options with the same claims are one way, and their documents are united. */
function waysOf(
  options: readonly (readonly string[])[],
  parts: ReadonlyMap<string, CredentialQuery>,
  names: NameLists,
): readonly Way[] {
  const order = [...parts.keys()]
  const ways = new Map<string, Way>()
  for (const ids of options) {
    const chosen = new Set(ids)
    const asked = order.filter(id => chosen.has(id)).map(id => parts.get(id)!)
    for (const choice of choicesOf(asked, names)) {
      const key = [...new Set(choice.map(({ number }) => number))].sort((a, b) => a - b).join()
      const way = ways.get(key) ?? { names: choice, credentials: new Set() }
      ways.set(key, way)
      for (const credential of asked) way.credentials.add(credential)
    }
  }
  return [...ways.values()]
}

/** The claims that one option may take. Where several credentials leave a choice, one choice names all their claims. */
function choicesOf(asked: readonly CredentialQuery[], names: NameLists): readonly (readonly Names[])[] {
  const [only, ...others] = asked
  if (only?.claim_sets && others.length === 0) return names.ofSets(only).map(list => [list])
  return [asked.map(credential => names.of(credential))]
}

const charsOf = (way: Way): number =>
  [...new Set(way.names)].reduce((sum, { chars }) => sum + chars, 0) +
  [...way.credentials].reduce((sum, credential) => sum + sizeOf(typesOf(credential)), 0)

const sizeOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length + CHARS_AROUND, 0)

const typesIn = ({ credentials }: Way): readonly string[] => [...credentials].flatMap(typesOf)

function unlisted(ways: readonly Way[], listed: Set<string>): string[] {
  const credentials = new Set(ways.flatMap(way => [...way.credentials]))
  const documents = new Set([...credentials].flatMap(typesOf).filter(type => !listed.has(type)))
  for (const type of documents) listed.add(type)
  return [...documents]
}

function added(alternatives: Map<string, { claims: string[]; documents: Set<string> }>, key: string, claims: string[]) {
  const alternative = { claims, documents: new Set<string>() }
  alternatives.set(key, alternative)
  return alternative
}

/** The names of each credential's claims, read once. */
class NameLists {
  private readonly known = new Map<string, Names>()
  private readonly whole = new Map<CredentialQuery, Names>()
  private readonly sets = new Map<CredentialQuery, readonly Names[]>()

  of(credential: CredentialQuery): Names {
    const list = this.whole.get(credential) ?? this.listed(credential, credential.claims)
    this.whole.set(credential, list)
    return list
  }

  ofSets(credential: CredentialQuery): readonly Names[] {
    const { claims = [], claim_sets: sets = [] } = credential
    const made = () =>
      sets.map(ids => {
        const chosen = new Set<string | undefined>(ids)
        return this.listed(
          credential,
          claims.filter(({ id }) => chosen.has(id)),
        )
      })
    const lists = this.sets.get(credential) ?? made()
    this.sets.set(credential, lists)
    return lists
  }

  private listed({ format }: CredentialQuery, claims: CredentialQuery['claims'] = []): Names {
    const names = [...new Set(claims.map(({ path }) => mergedName(format, path)))]
    const key = JSON.stringify(names.toSorted())
    const list = this.known.get(key) ?? { number: this.known.size, names, chars: sizeOf(names) }
    this.known.set(key, list)
    return list
  }
}
