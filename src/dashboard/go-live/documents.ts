// The documents that a shop can choose, and the issuers each of them needs.
import type { Environment } from '../../access/scopes.ts'
import { covers } from '../../openid4vp/trust/trust.ts'
import { DOCUMENT_KINDS, type DocumentKind } from '../../tenants/go-live.ts'

type Kind = {
  /** One of them is enough. */
  types: readonly string[]
  /** The preset of a list that names its issuers. */
  presets: Partial<Record<Environment, string>>
  /** The built-in template to begin with. */
  template: string
}

export const KINDS: Readonly<Record<DocumentKind, Kind>> = {
  eu_age: {
    types: ['eu.europa.ec.av.1'],
    presets: { test: 'eu-av-acceptance', live: 'eu-av' },
    template: 'eu_av_age_18',
  },
  eu_wallet: {
    types: ['urn:eudi:pid:1', 'eu.europa.ec.eudi.pid.1', 'urn:eudi:pid:de:1', 'urn:eudi:pid:it:1', 'urn:eudi:pid:nl:1'],
    presets: { test: 'eu-pid-acceptance', live: 'eu-pid' },
    template: 'age_over_18',
  },
  us_licence: { types: ['org.iso.18013.5.1.mDL'], presets: { live: 'aamva' }, template: 'age_over_21' },
  other: { types: [], presets: {}, template: 'age_over_18' },
}

const KNOWN = new Set(DOCUMENT_KINDS.flatMap(kind => KINDS[kind].types))

type Facts = {
  documents: readonly DocumentKind[]
  templates: readonly { types: readonly string[] }[]
}

type Need = { kind: DocumentKind; type: string | undefined; isMet: boolean }

/** Each chosen kind needs an issuer; "other" needs one for each template in use that asks for something else. */
export function needsOf({ documents, templates }: Facts, anchors: readonly { trustedFor: string | null }[]): Need[] {
  const isMet = (types: readonly string[]) => types.some(type => anchors.some(({ trustedFor }) => covers(trustedFor, type)))
  return documents.flatMap((kind): Need[] => {
    const { types } = KINDS[kind]
    if (kind !== 'other') return [{ kind, type: types[0], isMet: isMet(types) }]
    const others = templates.filter(template => !template.types.some(type => KNOWN.has(type)))
    if (others.length > 0) return others.map(each => ({ kind, type: each.types[0], isMet: isMet(each.types) }))
    return [{ kind, type: undefined, isMet: anchors.some(({ trustedFor }) => trustedFor === null || !KNOWN.has(trustedFor)) }]
  })
}
