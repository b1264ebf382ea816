// The rules of dcql.ts as JSON Schema, for the API document. JSON Schema cannot express unique ids,
// references or misspelt members: dcql.ts checks those.
import {
  AUTHORITIES_MAX,
  AUTHORITY_VALUES_MAX,
  CLAIM_SETS_MAX,
  CLAIMS_MAX,
  CREDENTIAL_SETS_MAX,
  CREDENTIALS_MAX,
  ID_CHARS_MAX,
  KEY_IDENTIFIER,
  OPTIONS_MAX,
  PATH_DEPTH_MAX,
  PURPOSE_CHARS_MAX,
  TEXT_CHARS_MAX,
  VALUES_MAX,
  VCT_VALUES_MAX,
} from './dcql.ts'

const object = (properties: object, required: string[], more: object = {}) => ({
  type: 'object',
  required,
  properties,
  additionalProperties: true,
  ...more,
})
const list = (items: object, maxItems: number) => ({ type: 'array', minItems: 1, maxItems, items })
const text = (minLength = 1) => ({ type: 'string', minLength, maxLength: TEXT_CHARS_MAX })

const ID = { type: 'string', minLength: 1, maxLength: ID_CHARS_MAX, pattern: '^[A-Za-z0-9_-]+$' }
const FLAG = { type: 'boolean' }
const WHOLE_NUMBER = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }

const SD_JWT_PATH = {
  ...list({ ...text(0), ...WHOLE_NUMBER, type: ['string', 'integer', 'null'], minimum: 0 }, PATH_DEPTH_MAX),
  prefixItems: [text(0)],
  description: 'Names, indexes, or null for all; a name comes first.',
}
const MDOC_PATH = {
  type: 'array',
  minItems: 2,
  maxItems: 2,
  items: text(),
  description: 'The namespace and the element.',
}

const WITH_ID = { required: ['id'], properties: { id: ID } }

const claim = (path: object) =>
  object(
    {
      id: ID,
      path,
      values: list({ ...text(0), ...WHOLE_NUMBER, type: ['string', 'integer', 'boolean'] }, VALUES_MAX),
      intent_to_retain: FLAG,
    },
    ['path'],
  )

/** The other types of DCQL are refused because they cannot be enforced yet. */
const AKI = object(
  {
    type: { type: 'string', const: 'aki' },
    values: list({ ...text(), pattern: KEY_IDENTIFIER.source }, AUTHORITY_VALUES_MAX),
  },
  ['type', 'values'],
)

const credential = (format: string, meta: object, path: object) =>
  object(
    {
      id: ID,
      format: { type: 'string', const: format },
      meta,
      multiple: FLAG,
      require_cryptographic_holder_binding: {
        type: 'boolean',
        const: true,
        description: 'The holder always proves that the credential is theirs.',
      },
      trusted_authorities: list(AKI, AUTHORITIES_MAX),
      claims: list(claim(path), CLAIMS_MAX),
      claim_sets: { ...list(list(ID, CLAIMS_MAX), CLAIM_SETS_MAX), description: 'Ids of claims; every claim needs one then.' },
    },
    ['id', 'format', 'meta'],
    { dependentSchemas: { claim_sets: { required: ['claims'], properties: { claims: { items: WITH_ID } } } } },
  )

export const CREDENTIAL_QUERIES = {
  ...list(
    {
      oneOf: [
        credential('dc+sd-jwt', object({ vct_values: list(text(), VCT_VALUES_MAX) }, ['vct_values']), SD_JWT_PATH),
        credential('mso_mdoc', object({ doctype_value: text() }, ['doctype_value']), MDOC_PATH),
      ],
    },
    CREDENTIALS_MAX,
  ),
  description: 'Each with an id of its own.',
}

export const CREDENTIAL_SETS = list(
  object(
    {
      options: { ...list(list(ID, CREDENTIALS_MAX), OPTIONS_MAX), description: 'Ids of credentials of this query.' },
      required: FLAG,
      purpose: { type: 'string', minLength: 1, maxLength: PURPOSE_CHARS_MAX },
    },
    ['options'],
  ),
  CREDENTIAL_SETS_MAX,
)
