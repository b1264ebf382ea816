// The merged claims that a query asks for, and hints where fewer would do (GDPR Art. 5(1)(c)).
import type { CredentialQuery, DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import { mergedName } from '../openid4vp/merge-claims.ts'

const CLAIMS_MANY = 6
const NAMES = ['family_name', 'given_name']
const IDENTIFIERS = ['personal_administrative_number', 'document_number', 'tax_id_code', 'health_insurance_number']

export type CredentialClaims = { credential: string; format: CredentialQuery['format']; types: string[]; claims: string[] }

export type Hint = {
  code: 'age_instead_of_birthdate' | 'portrait' | 'identifier' | 'many_claims' | 'whole_document'
  credential: string
  claim?: string
}

export const askedBy = ({ credentials }: DcqlQuery): CredentialClaims[] => credentials.map(asked)

function asked(query: CredentialQuery): CredentialClaims {
  const { id, format, claims = [] } = query
  return {
    credential: id,
    format,
    types: query.format === 'mso_mdoc' ? [query.meta.doctype_value] : [...query.meta.vct_values],
    claims: [...new Set(claims.map(({ path }) => mergedName(format, path)))],
  }
}

export function hintsFor({ credentials }: DcqlQuery): Hint[] {
  return credentials.flatMap(query => {
    const { credential, claims } = asked(query)
    const hint = (code: Hint['code'], claim?: string): Hint => ({ code, credential, ...(claim !== undefined && { claim }) })
    return [
      ...(claims.length === 0 ? [hint('whole_document')] : []),
      // A birth date identifies a person only beside a name; alone it shows an age.
      ...(claims.includes('birthdate') && !NAMES.some(name => claims.includes(name))
        ? [hint('age_instead_of_birthdate', 'birthdate')]
        : []),
      ...(claims.includes('picture') ? [hint('portrait', 'picture')] : []),
      ...claims.filter(claim => IDENTIFIERS.includes(claim)).map(claim => hint('identifier', claim)),
      ...(claims.length > CLAIMS_MANY ? [hint('many_claims')] : []),
    ]
  })
}
