// What a presentation tells whoever opens it: for the page, which shows what was really sent and not what was meant to be.
import { fromBase64, sha256, toBase64Url, utf8 } from './bytes.ts'
import { decodeCbor } from './cbor-decode.ts'
import { type Cbor, encodeCbor, Tagged } from './cbor-encode.ts'
import type { Credential, Json } from './credential.ts'

type Members = Record<string, Json>

export type Shown = {
  /** Disclosed, and covered by the issuer's signature; of an mdoc by namespace. */
  claims: Members
  /** Sent along, but not what the issuer signed. */
  altered: Members
  /** What the holder signed, where it can be read. */
  proof: Members | undefined
}

export const readPresentation = (format: Credential['format'], text: string): Promise<Shown> =>
  format === 'mso_mdoc' ? readMdoc(text) : readSdJwt(text)

/** Neither asked for nor chosen: they come with every SD-JWT. */
const ENVELOPE = ['iss', 'iat', 'nbf', 'exp', 'vct', 'cnf', 'status', '_sd_alg']

async function readSdJwt(text: string): Promise<Shown> {
  const [jwt = '', ...rest] = text.split('~')
  const proof = rest.pop()
  const disclosures = new Map(
    await Promise.all(rest.map(async one => [toBase64Url(await sha256(utf8(one))), parseJson(one) as Json[]] as const)),
  )
  const reveal = (value: Json): Json => {
    if (isArray(value)) return value.flatMap(revealElement)
    return isMembers(value) ? revealMembers(value) : value
  }
  const take = (digest: Json): Json[] | undefined => {
    const found = disclosures.get(String(digest))
    disclosures.delete(String(digest))
    return found
  }
  const revealElement = (element: Json): Json[] => {
    if (!isMembers(element) || element['...'] === undefined) return [reveal(element)]
    const found = take(element['...'])
    return found ? [reveal(found[1]!)] : []
  }
  const revealMembers = ({ _sd = [], ...open }: Members): Members => {
    const hidden = (_sd as Json[]).flatMap(digest => {
      const found = take(digest)
      return found ? [[String(found[1]), found[2]!] as const] : []
    })
    const members = [...Object.entries(open), ...hidden].map(([name, value]) => [name, reveal(value)] as const)
    return Object.fromEntries(members.filter(([, value]) => !isEmpty(value)))
  }
  const payload = revealMembers(parseJson(jwt.split('.')[1] ?? '') as Members)
  return {
    claims: Object.fromEntries(Object.entries(payload).filter(([name]) => !ENVELOPE.includes(name))),
    altered: Object.fromEntries([...disclosures.values()].map(content => [String(content.at(-2)), content.at(-1)!])),
    proof: proof ? (parseJson(proof.split('.')[1] ?? '') as Members) : undefined,
  }
}

async function readMdoc(text: string): Promise<Shown> {
  const [document] = member(decodeCbor(fromBase64(text)), 'documents') as Cbor[]
  const signed = member(document, 'issuerSigned')
  const [, , payload] = member(signed, 'issuerAuth') as Cbor[]
  const digests = member(inside(decodeCbor(payload as Uint8Array)), 'valueDigests')
  const shown: Shown = { claims: {}, altered: {}, proof: undefined }
  for (const [namespace, items] of (member(signed, 'nameSpaces') ?? new Map()) as Map<string, Tagged[]>) {
    for (const item of items) {
      const digest = member(member(digests, namespace), member(inside(item), 'digestID') as number)
      const isSigned = toBase64Url(digest as Uint8Array) === toBase64Url(await sha256(encodeCbor(item)))
      const side = isSigned ? shown.claims : shown.altered
      const name = member(inside(item), 'elementIdentifier') as string
      side[namespace] = { ...(side[namespace] as Members), [name]: plain(member(inside(item), 'elementValue')!) }
    }
  }
  return shown
}

const member = (map: Cbor | undefined, key: string | number): Cbor | undefined =>
  (map as ReadonlyMap<string | number, Cbor>).get(key)

/** Of `24(<<value>>)`. */
const inside = (value: Cbor): Cbor => decodeCbor((value as Tagged).value as Uint8Array)

function plain(value: Cbor): Json {
  if (value instanceof Tagged) return plain(value.value)
  if (value instanceof Uint8Array) return `(${value.length} bytes)`
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, each]) => [key, plain(each)]))
  return Array.isArray(value) ? value.map(plain) : (value as Json)
}

const parseJson = (text: string): Json => JSON.parse(new TextDecoder().decode(fromBase64(text)))

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value)

const isMembers = (value: Json): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

const isEmpty = (value: Json): boolean => isMembers(value) && Object.keys(value).length === 0
