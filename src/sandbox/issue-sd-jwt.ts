import { hash } from 'node:crypto'
import type { Random } from '../ids.ts'
import { authorityKeyIds, type World } from './certificates.ts'
import type { Disclosure, Json, Place, SdJwtCredential } from './credential.ts'
import { type PublicJwk, signJwt } from './es256.ts'
import type { Issuance } from './issuer.ts'

/** There itself, with parts that can be disclosed (RFC 9901 § 6.2); all else that is nested is concealed as a whole (§ 6.3). */
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
  const disclosures: Disclosure[] = []
  const concealed = concealObject(claims, [], { random, disclosures })
  const header = { typ: 'dc+sd-jwt', x5c: [sdJwtSigner.certificate] }
  return {
    format: 'dc+sd-jwt',
    type: vct,
    claims: { ...open, ...claims },
    authorityKeyIds: authorityKeyIds(authority),
    jwt: await signJwt(sdJwtSigner.key, header, { ...open, ...concealed, _sd_alg: 'sha-256' }),
    disclosures,
  }
}

type Concealing = { random: Random; disclosures: Disclosure[] }

function conceal(value: Json, at: Place, concealing: Concealing): Json {
  if (isArray(value)) return concealArray(value, at, concealing)
  return typeof value === 'object' && value !== null ? concealObject(value, at, concealing) : value
}

function concealObject(object: Readonly<Record<string, Json>>, at: Place, concealing: Concealing): Record<string, Json> {
  const digests = decoys(concealing.random)
  const open: Record<string, Json> = {}
  for (const [name, value] of Object.entries(object)) {
    const place = [...at, name]
    const inner = conceal(value, place, concealing)
    if (OPEN_CONTAINERS.includes(name)) open[name] = inner
    else digests.push(disclose([salt(concealing.random), name, inner], place, concealing))
  }
  // Sorted: the order must not tell which digest is which claim (RFC 9901 § 4.2.4.1).
  return { ...open, _sd: digests.sort() }
}

const concealArray = (array: readonly Json[], at: Place, concealing: Concealing): Json =>
  array.map((value, index) => {
    const place = [...at, index]
    return { '...': disclose([salt(concealing.random), conceal(value, place, concealing)], place, concealing) }
  })

function disclose(content: Json[], at: Place, { disclosures }: Concealing): string {
  const text = Buffer.from(JSON.stringify(content)).toString('base64url')
  disclosures.push({ at, text })
  return hash('sha256', text, 'base64url')
}

const decoys = (random: Random): string[] => Array.from({ length: DECOYS }, () => hash('sha256', salt(random), 'base64url'))

const salt = (random: Random): string => Buffer.from(random(16)).toString('base64url')

const seconds = (ms: number): number => Math.floor(ms / 1000)

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value)
