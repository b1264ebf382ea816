import { flipLastBit, fromBase64, sha256, toBase64Url, utf8 } from './bytes.ts'
import type { Disclosure, Place, SdJwtCredential } from './credential.ts'
import { type PrivateJwk, signJwt } from './es256.ts'
import type { Mutations } from './mutations.ts'
import type { PresentationRequest } from './request.ts'

type Presenting = {
  places: readonly Place[]
  request: PresentationRequest
  key: PrivateJwk
  /** In milliseconds. */
  now: number
  mutations: Mutations
}

/** `JWT~disclosure~…~KB-JWT` (RFC 9901 § 4). */
export async function presentSdJwt(
  credential: SdJwtCredential,
  { places, request, key, now, mutations }: Presenting,
): Promise<string> {
  const jwt = mutations.issuerSignatureFlip ? withFlippedSignature(credential.jwt) : credential.jwt
  const disclosures = cheatedDisclosures(credential, places, mutations)
  const sdJwt = `${[jwt, ...disclosures].join('~')}~`
  if (mutations.dropKb) return sdJwt
  const keyBinding = await signJwt(
    key,
    { typ: mutations.kbTyp ?? 'kb+jwt', ...(mutations.kbAlg !== undefined && { alg: mutations.kbAlg }) },
    {
      nonce: mutations.kbNonce ?? request.nonce,
      aud: mutations.kbAud ?? request.clientId,
      iat: mutations.kbIat ?? Math.floor(now / 1000),
      sd_hash: mutations.sdHash ?? toBase64Url(await sha256(utf8(sdJwt))),
      ...mutations.kbClaims,
    },
  )
  return sdJwt + (mutations.holderSignatureFlip ? withFlippedSignature(keyBinding) : keyBinding)
}

function cheatedDisclosures({ disclosures }: SdJwtCredential, places: readonly Place[], mutations: Mutations): string[] {
  const wanted = mutations.dropDisclosure ? places.slice(1) : places
  const shown = disclosures.filter(({ at }) => wanted.some(place => isWithin(at, place) || isWithin(place, at)))
  const texts = (mutations.tamperClaim ? tampered(shown) : shown).map(({ text }) => text)
  const { extraDisclosure, repeatDisclosure } = mutations
  if (extraDisclosure === true)
    texts.push(
      ...disclosures
        .filter(one => one.at.length === 1 && !shown.includes(one))
        .slice(0, 1)
        .map(({ text }) => text),
    )
  if (typeof extraDisclosure === 'string') texts.push(extraDisclosure)
  if (repeatDisclosure) texts.push(...texts.slice(0, 1))
  return texts
}

/** A nested claim needs what it stands in disclosed, and a requested object everything in it. */
const isWithin = (inner: Place, outer: Place): boolean => outer.every((step, index) => inner[index] === step)

function tampered(disclosures: readonly Disclosure[]): Disclosure[] {
  const decoded = disclosures.map(({ text }) => JSON.parse(new TextDecoder().decode(fromBase64(text))) as unknown[])
  const isBoolean = decoded.findIndex(content => typeof content.at(-1) === 'boolean')
  const target = isBoolean >= 0 ? isBoolean : decoded.findIndex(content => typeof content.at(-1) === 'string')
  return disclosures.map((disclosure, index) => {
    const content = decoded[index]!
    return index === target ? { ...disclosure, text: encode([...content.slice(0, -1), another(content.at(-1))]) } : disclosure
  })
}

const another = (value: unknown): unknown => (typeof value === 'boolean' ? !value : `${value}x`)

const encode = (content: unknown[]): string => toBase64Url(utf8(JSON.stringify(content)))

function withFlippedSignature(jwt: string): string {
  const end = jwt.lastIndexOf('.') + 1
  return jwt.slice(0, end) + toBase64Url(flipLastBit(fromBase64(jwt.slice(end))))
}
