// What a client is told about the person: the merged claims under the names of OpenID Connect Core § 5.1, which most have already.
import { BUILTIN_TEMPLATES } from '../templates/builtin.ts'

const VALUE_BYTES_MAX = 2048
const CLAIMS_BYTES_MAX = 8192

/** A foreign issuer must not write our token. The last four are made here. */
const RESERVED = new Set(
  (
    'iss sub aud exp nbf iat jti azp nonce auth_time acr amr at_hash c_hash s_hash sid cnf status vct txn scope client_id ' +
    '_claim_names _claim_sources verified_claims name email_verified phone_number_verified updated_at'
  ).split(' '),
)
/** OpenID's `picture` is an address, and tokens have limits. */
const PICTURE = /^(?:picture|portrait|enrolment_portrait_image|signature_usual_mark|biometric_template_.*)$/

export const CLAIMS_SUPPORTED = [
  ...[
    'sub',
    'iss',
    'aud',
    'exp',
    'iat',
    'auth_time',
    'nonce',
    'acr',
    'amr',
    'at_hash',
    'txn',
    'name',
    'given_name',
    'family_name',
  ],
  ...['birthdate', 'gender', 'address', 'email', 'email_verified', 'phone_number', 'phone_number_verified', 'nationalities'],
  ...[
    'place_of_birth',
    ...new Set([...BUILTIN_TEMPLATES.values()].flatMap(({ ageOver }) => (ageOver ? `age_over_${ageOver}` : []))),
  ],
]

export type Claims = Record<string, unknown>

/** `left_out`: names that were too long, or pictures. */
export function claimsFor(merged: Claims): { claims: Claims; left_out: string[] } {
  const claims: Claims = {}
  const left_out: string[] = []
  let bytes = 0
  const add = (name: string, value: unknown) => {
    const length = Buffer.byteLength(JSON.stringify([name, value]))
    if (length - name.length > VALUE_BYTES_MAX || bytes + length > CLAIMS_BYTES_MAX) return void left_out.push(name)
    bytes += length
    Object.defineProperty(claims, name, { value, enumerable: true, configurable: true, writable: true })
  }
  for (const [name, value] of Object.entries(merged)) {
    if (RESERVED.has(name)) continue
    if (PICTURE.test(name) || isPicture(value)) left_out.push(name)
    else add(name, value)
  }
  const { given_name, family_name } = claims
  if (isText(given_name) && isText(family_name)) add('name', `${given_name} ${family_name}`)
  // The issuer's record is no proof that the mailbox is theirs: to link accounts by it would be a take-over.
  for (const name of ['email', 'phone_number']) if (name in claims) add(`${name}_verified`, false)
  return { claims, left_out }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isPicture = (value: unknown): boolean => isText(value) && value.startsWith('data:')
