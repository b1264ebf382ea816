// The shape of a DCQL query (OpenID4VP 1.0 § 6 and § 7): types, check and API document in one. `reason` is the sentence with which
// a part is refused, `documented` what dcql.ts checks besides.
import { type SchemaOptions, type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { isObject } from '../../base/members.ts'

const TEXT_CHARS_MAX = 1024
const PURPOSE_CHARS_MAX = 300
const ECHO_CHARS_MAX = 64
const CREDENTIALS_MAX = 20
const CLAIMS_MAX = 100
/** Base64url without padding and without stray bits in the last character. */
const KEY_IDENTIFIER = /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/

const object = <Properties extends TProperties>(properties: Properties, reason: string, options?: SchemaOptions) =>
  Type.Object(properties, { additionalProperties: true, reason, ...options })

const list = <Item extends TSchema>(things: string, maxItems: number, item: Item, options?: SchemaOptions) => {
  const rule = `This must be an array of 1 to ${maxItems} ${things}`
  const reason = (value: unknown) => (Array.isArray(value) ? `${rule}, and it has ${value.length}.` : `${rule}.`)
  return Type.Array(item, { minItems: 1, maxItems, reason, ...options })
}

const SOME_TEXT = { minLength: 1, maxLength: TEXT_CHARS_MAX }

const text = (subject: string, options?: SchemaOptions) =>
  Type.String({ ...SOME_TEXT, reason: `${subject} must be a string of 1 to ${TEXT_CHARS_MAX} characters.`, ...options })

const flag = (options?: SchemaOptions) =>
  Type.Optional(Type.Boolean({ reason: 'The value must be true or false, without quotes.', ...options }))

// "Alphanumeric" of § 6.1 is read as ASCII, as the OpenID conformance suite reads it.
const ID = { minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' }
const Id = Type.String({
  ...ID,
  reason: `An id must be 1 to ${ID.maxLength} characters out of A-Z, a-z, 0-9, "_" and "-".`,
})
const idOf = (thing: string) =>
  Type.String({ documented: ID, reason: `No ${thing} of this query has the id this; name one that is there.` })

const whole = (minimum: number) => Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER })

const Name = Type.String({ maxLength: TEXT_CHARS_MAX })
const PathElement = Type.Union([Name, whole(0), Type.Null()], {
  reason: `A path element must be a name of up to ${TEXT_CHARS_MAX} characters, a whole number from 0, or null for all.`,
})
const SdJwtPath = list('path elements', 10, PathElement, {
  prefixItems: [{ type: 'string', maxLength: TEXT_CHARS_MAX }],
  description: 'Names, indexes, or null for all; a name comes first.',
})

const PAIR = `An mso_mdoc path must be exactly two strings of 1 to ${TEXT_CHARS_MAX} characters: the namespace and the element.`
const MdocPath = Type.Unsafe<Static<typeof SdJwtPath>>(
  Type.Array(Type.String({ ...SOME_TEXT, reason: PAIR, isOfList: true }), {
    minItems: 2,
    maxItems: 2,
    reason: PAIR,
    description: 'The namespace and the element.',
  }),
)

const Value = Type.Union([Name, whole(Number.MIN_SAFE_INTEGER), Type.Boolean()], {
  reason: `A value must be a string of up to ${TEXT_CHARS_MAX} characters, a whole number, true or false.`,
})

const claim = <Path extends TSchema>(path: Path) =>
  object(
    { id: Type.Optional(Id), path, values: Type.Optional(list('values', 100, Value)), intent_to_retain: flag() },
    'A claim must be an object with `path`.',
  )

/** Only aki is documented: the other types of DCQL are refused because they cannot be enforced yet. */
const AuthorityType = Type.Union([Type.Literal('aki'), Type.Literal('etsi_tl'), Type.Literal('openid_federation')], {
  reason: 'The type must be "aki", "etsi_tl" or "openid_federation", the three that DCQL 1.0 defines.',
  documented: { enum: ['aki'] },
})
const Authority = object(
  {
    type: AuthorityType,
    values: list('identifiers', 100, text('An identifier', { documented: { pattern: KEY_IDENTIFIER.source } })),
  },
  'A trusted authority must be an object with `type` and `values`.',
)
export const isKeyIdentifier = (value: string): boolean => KEY_IDENTIFIER.test(value)

const WITH_ID = { required: ['id'], properties: { id: { type: 'string', ...ID } } }

const credential = <const Format extends string, Meta extends TSchema, Path extends TSchema>(
  format: Format,
  meta: Meta,
  path: Path,
) =>
  object(
    {
      id: Id,
      format: Type.Literal(format, { reason: formatReason }),
      meta,
      multiple: flag(),
      require_cryptographic_holder_binding: flag({
        documented: { const: true },
        description: 'The holder always proves that the credential is theirs.',
      }),
      trusted_authorities: Type.Optional(list('trusted authorities', 20, Authority)),
      claims: Type.Optional(list('claims', CLAIMS_MAX, claim(path))),
      claim_sets: Type.Optional(
        list('claim sets', 20, list('claim ids', CLAIMS_MAX, idOf('claim')), {
          description: 'Ids of claims; every claim needs one then.',
        }),
      ),
    },
    'A credential query must be an object with `id`, `format` and `meta`.',
    { dependentSchemas: { claim_sets: { required: ['claims'], properties: { claims: { items: WITH_ID } } } } },
  )

function formatReason(format: unknown): string {
  if (format === 'vc+sd-jwt') return 'The format "vc+sd-jwt" is a draft name; write "dc+sd-jwt".'
  const given = typeof format === 'string' ? `, not ${echo(format)}` : ''
  return `The format must be "dc+sd-jwt" or "mso_mdoc", the only two supported${given}.`
}

export function echo(text: string): string {
  const quoted = JSON.stringify(text)
  return quoted.length <= ECHO_CHARS_MAX ? quoted : `${quoted.slice(0, ECHO_CHARS_MAX - 1).toWellFormed()}…`
}

// § 6.1 lets an empty `meta` mean "any type", but § B.2.3 and § B.3.5 require the member, and without it any document passes.
const SdJwtMeta = object(
  { vct_values: list('credential types', 50, text('A credential type, such as "urn:eudi:pid:1",')) },
  'The `meta` of a dc+sd-jwt query must be an object with `vct_values`.',
)
const MdocMeta = object(
  { doctype_value: text('The document type, such as "org.iso.18013.5.1.mDL",') },
  'The `meta` of an mso_mdoc query must be an object with `doctype_value`.',
)
const SdJwt = credential('dc+sd-jwt', SdJwtMeta, SdJwtPath)
const Mdoc = credential('mso_mdoc', MdocMeta, MdocPath)

export const Credential = Type.Union([SdJwt, Mdoc])
/** The part of the union that a credential query is meant to fit: the union itself has no reasons. */
export const credentialLike = (value: unknown) => (isObject(value) && value.format === 'mso_mdoc' ? Mdoc : SdJwt)

const CredentialSet = object(
  {
    options: list('options', 50, list('credential ids', CREDENTIALS_MAX, idOf('credential')), {
      description: 'Ids of credentials of this query.',
    }),
    required: flag(),
    /** Not DCQL 1.0: a member of draft 22 that some wallets still show to the holder. */
    purpose: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: PURPOSE_CHARS_MAX,
        reason: `A purpose must be a string of 1 to ${PURPOSE_CHARS_MAX} characters, or be left out.`,
      }),
    ),
  },
  'A credential set must be an object with `options`.',
)

export const Credentials = list('credential queries', CREDENTIALS_MAX, Credential, {
  description: 'Each with an id of its own.',
})
export const CredentialSets = list('credential sets', 10, CredentialSet)
export const Query = object(
  { credentials: Credentials, credential_sets: Type.Optional(CredentialSets) },
  'The query must be an object with a `credentials` array.',
)
