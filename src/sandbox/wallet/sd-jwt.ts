import { Jwt, SDJwt } from '@sd-jwt/core'
import { flipLastBit, fromBase64, sha256, sha256Hasher, toBase64Url, utf8 } from '../bytes.ts'
import type { Place, SdJwtCredential } from '../credential.ts'
import { jwtSigner, type PrivateJwk } from '../es256.ts'
import type { Json } from '../json.ts'
import type { Mutations } from '../mutations.ts'
import type { PresentationRequest } from './request.ts'

type Presenting = {
  places: readonly Place[]
  request: PresentationRequest
  key: PrivateJwk
  /** In milliseconds. */
  now: number
  mutations: Mutations
}

/**
 * `JWT~disclosure~…~KB-JWT` (RFC 9901 § 4). The parts are joined here, because cheats change them
 * and sign the result; the library would sign only what it selected.
 */
export async function presentSdJwt(
  credential: SdJwtCredential,
  { places, request, key, now, mutations }: Presenting,
): Promise<string> {
  const [issued = ''] = credential.sdJwt.split('~', 1)
  const jwt = mutations.issuerSignatureFlip ? withFlippedSignature(issued) : issued
  const disclosures = await cheatedDisclosures(credential, places, mutations)
  const sdJwt = `${[jwt, ...disclosures].join('~')}~`
  if (mutations.dropKb) return sdJwt
  const keyBinding = new Jwt({
    header: { alg: mutations.kbAlg ?? 'ES256', typ: mutations.kbTyp ?? 'kb+jwt' },
    payload: {
      nonce: mutations.kbNonce ?? request.nonce,
      aud: mutations.kbAud ?? audienceOf(request),
      iat: mutations.kbIat ?? Math.floor(now / 1000),
      sd_hash: mutations.sdHash ?? toBase64Url(await sha256(utf8(sdJwt))),
      ...mutations.kbClaims,
    },
  })
  const signed = await keyBinding.sign(jwtSigner(key))
  return sdJwt + (mutations.holderSignatureFlip ? withFlippedSignature(signed) : signed)
}

/** OpenID4VP 1.0 § A.4: the page that asks, for signed requests too. */
const audienceOf = ({ clientId, page }: PresentationRequest): string => (page ? `origin:${page.origin}` : clientId)

async function cheatedDisclosures(
  { sdJwt, claims, alsoShown = [] }: SdJwtCredential,
  places: readonly Place[],
  { dropDisclosure, tamperClaim, extraDisclosure, repeatDisclosure }: Mutations,
): Promise<string[]> {
  const held = await SDJwt.fromEncode(sdJwt, sha256Hasher)
  const select = async (wanted: readonly Place[]) =>
    (await held.getPresentDisclosures(presentationFrame(claims, wanted), sha256Hasher)).map(one => one.encode())
  const wanted = dropDisclosure ? places.slice(1) : places
  const shown = [...(await select(wanted)), ...alsoShown]
  const texts = tamperClaim ? tampered(shown) : shown
  if (extraDisclosure === true) {
    const others = Object.keys(claims).filter(name => !wanted.some(([first]) => first === name))
    const selected = await Promise.all(others.map(name => select([[name]])))
    texts.push(...selected.flatMap(([first]) => first ?? []).slice(0, 1))
  }
  if (typeof extraDisclosure === 'string') texts.push(extraDisclosure)
  if (repeatDisclosure) texts.push(...texts.slice(0, 1))
  return texts
}

type Frame = { [name: string]: Frame | boolean }

/** A nested claim needs its containers, and a requested container everything in it. */
function presentationFrame(value: Json, places: readonly Place[]): Frame {
  const isWhole = places.some(({ length }) => length === 0)
  const entries = Object.entries(value as object).flatMap(([name, member]: [string, Json]) => {
    const below = isWhole ? places : places.filter(([step]) => String(step) === name).map(([, ...rest]) => rest)
    if (below.length === 0) return []
    return [[name, typeof member === 'object' && member !== null ? presentationFrame(member, below) : true] as const]
  })
  return Object.fromEntries(entries)
}

function tampered(texts: readonly string[]): string[] {
  const decoded = texts.map(text => JSON.parse(new TextDecoder().decode(fromBase64(text))) as unknown[])
  const isBoolean = decoded.findIndex(content => typeof content.at(-1) === 'boolean')
  const target = isBoolean >= 0 ? isBoolean : decoded.findIndex(content => typeof content.at(-1) === 'string')
  return texts.map((text, index) => {
    const content = decoded[index]!
    return index === target ? encode([...content.slice(0, -1), another(content.at(-1))]) : text
  })
}

const another = (value: unknown): unknown => (typeof value === 'boolean' ? !value : `${value}x`)

const encode = (content: unknown[]): string => toBase64Url(utf8(JSON.stringify(content)))

function withFlippedSignature(jwt: string): string {
  const end = jwt.lastIndexOf('.') + 1
  return jwt.slice(0, end) + toBase64Url(flipLastBit(fromBase64(jwt.slice(end))))
}
