// The forms of a template: documents as SD-JWT VC, as mdoc, or either. A wallet that knows one form may stop silently at a query
// that names both, so a template can be narrowed, by the request or by a name for one form. Tills and certificates are set up with
// these names: KEY_mdoc and KEY_sd_jwt stay for ever.
import { narrowed } from '../openid4vp/dcql/credential-sets.ts'
import type { DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import type { Format } from '../words/templates.ts'
import { BUILTIN_TEMPLATES, type Template } from './builtin.ts'

export const FORMATS = ['dc+sd-jwt', 'mso_mdoc'] as const satisfies readonly Format[]

const ENDINGS: Readonly<Record<Format, string>> = { 'dc+sd-jwt': 'sd_jwt', mso_mdoc: 'mdoc' }

/** A name of a built-in template in one form. */
export type Alias = { readonly key: string; readonly template: Template; readonly format: Format; readonly query: DcqlQuery }

export const ALIASES: ReadonlyMap<string, Alias> = new Map(
  [...BUILTIN_TEMPLATES.values()].flatMap(aliasesOf).map(alias => [alias.key, alias]),
)

function aliasesOf(template: Template): Alias[] {
  const formats = formatsOf(template.query)
  if (formats.length === 1) return []
  return formats.map(format => {
    const query = narrowed(template.query, new Set([format]))
    if (!query) throw new Error(`${template.key} cannot be answered in ${format}`)
    return { key: `${template.key}_${ENDINGS[format]}`, template, format, query }
  })
}

/** The formats that a query names. */
export function formatsOf({ credentials }: DcqlQuery): Format[] {
  return FORMATS.filter(each => credentials.some(({ format }) => format === each))
}

/** The name of a built-in template or of one form of it. */
export const isBuiltinName = (key: string): boolean => BUILTIN_TEMPLATES.has(key) || ALIASES.has(key)

/** A tenant may have had a template called KEY_sd_jwt before this was an alias, and keeps it. */
export const mayBeOwn = (key: string): boolean => !BUILTIN_TEMPLATES.has(key) && ALIASES.get(key)?.format !== 'mso_mdoc'

/** The template of an alias; any other key is its own. */
export const templateOf = (key: string): string => ALIASES.get(key)?.template.key ?? key

/** A template and its aliases. */
export const namesOf = (key: string): string[] => [
  key,
  ...[...ALIASES.values()].filter(({ template }) => template.key === key).map(alias => alias.key),
]
