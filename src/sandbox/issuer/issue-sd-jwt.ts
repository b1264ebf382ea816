import { SDJwtInstance } from '@sd-jwt/core'
import { sha256Hasher } from '../bytes.ts'
import type { SdJwtCredential } from '../credential.ts'
import { jwtSigner, type PublicJwk } from '../es256.ts'
import type { Json } from '../json.ts'
import { authorityKeyIds, type World } from './certificates.ts'
import type { Issuance } from './issuance.ts'

/** Not concealed itself, but its members are (RFC 9901 § 6.2); any other container is concealed with its members (§ 6.3). */
const OPEN_CONTAINERS = ['address']
const DECOYS = 2

type SdJwt = { vct: string; claims: Readonly<Record<string, Json>>; holderKey: PublicJwk; issuance: Issuance }

export async function issueSdJwt(
  { sdJwtSigner, authority }: World,
  { vct, claims, holderKey, issuance }: SdJwt,
): Promise<SdJwtCredential> {
  const { random, issuer, validity, status } = issuance
  const open = {
    iss: issuer,
    vct,
    iat: seconds(validity.signed),
    nbf: seconds(validity.from),
    exp: seconds(validity.until),
    cnf: { jwk: { ...holderKey } },
    ...(status && { status: { status_list: status } }),
  }
  const library = new SDJwtInstance<Record<string, unknown>>({
    hasher: sha256Hasher,
    hashAlg: 'sha-256',
    saltGenerator: length => Buffer.from(random(length)).toString('base64url'),
    signer: jwtSigner(sdJwtSigner.key),
    signAlg: 'ES256',
  })
  const header = { typ: 'dc+sd-jwt', x5c: [sdJwtSigner.certificate] }
  return {
    format: 'dc+sd-jwt',
    type: vct,
    claims: { ...open, ...claims },
    authorityKeyIds: authorityKeyIds(authority),
    sdJwt: await library.issue({ ...open, ...claims }, disclosureFrame(claims), { header }),
  }
}

type Frame = { [name: string]: Frame | readonly (string | number)[] | number }

/** Every member of an object and every element of an array can be disclosed by itself. Decoys hide how many members there are. */
function disclosureFrame(value: { readonly [name: string]: Json } | readonly Json[]): Frame {
  const nested = Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'object' && member !== null ? [[name, disclosureFrame(member)] as const] : [],
  )
  const concealed: Frame = Array.isArray(value)
    ? { _sd: [...value.keys()] }
    : { _sd: Object.keys(value).filter(name => !OPEN_CONTAINERS.includes(name)), _sd_decoy: DECOYS }
  return { ...Object.fromEntries(nested), ...concealed }
}

const seconds = (ms: number): number => Math.floor(ms / 1000)
