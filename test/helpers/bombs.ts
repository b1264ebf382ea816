// Answers of a wallet that are small in transit and large once they are read, one for each place that reads them.
import { CompactEncrypt, importJWK } from 'jose'
import { type Holder, type Mutations, vpToken } from '../../src/sandbox/wallet/wallet.ts'
import { authorityKey, isAuthority, issue, makeKeys, signsCertificates } from './certificates.ts'
import { encryptedTo, type Session } from './exchange.ts'
import { AROUND_NOON, encodeJson, forgeSdJwt, holderWith, newLeaf, signerFrom } from './forger.ts'
import { accept } from './queries.ts'
import type { FormatChoice } from './wallet.ts'

const nested = (bytes: Buffer): Mutations => ({ presentation: () => bytes.toString('base64url') })
const sdJwt = (change: (text: string) => string): Mutations => ({ presentation: change })
const beforeBinding = (text: string, more: string) => {
  const at = text.lastIndexOf('~') + 1
  return text.slice(0, at) + more + text.slice(at)
}

const DEEP = Buffer.from('['.repeat(30_000)).toString('base64url')
const DEEP_HEADER = Buffer.from('{"a":'.repeat(30_000)).toString('base64url')
const distinct = (count: number) => Array.from({ length: count }, (_, i) => `${encodeJson(['salt', `n${i}`, 'v'])}~`).join('')

type PresentationBomb = [title: string, format: FormatChoice, mutations: Mutations, detail: RegExp]

/** Added to a usual presentation; each is reported as malformed. */
export const PRESENTATION_BOMBS: PresentationBomb[] = [
  ['1,000 disclosures', 'dc+sd-jwt', sdJwt(text => beforeBinding(text, distinct(1000))), /More than 500/],
  ['100,000 tildes', 'dc+sd-jwt', sdJwt(text => beforeBinding(text, '~'.repeat(100_000))), /More than 500/],
  ['a disclosure 30,000 levels deep', 'dc+sd-jwt', sdJwt(text => beforeBinding(text, `${DEEP}~`)), /well-formed/],
  ['a header 30,000 levels deep', 'dc+sd-jwt', sdJwt(text => text.replace(/^[^.]+/, DEEP_HEADER)), /well-formed/],
  ['CBOR bytes of length 2^63', 'mso_mdoc', nested(Buffer.from('5b8000000000000000', 'hex')), /beyond the input/],
  ['a CBOR array of length 2^63', 'mso_mdoc', nested(Buffer.from('9b8000000000000000', 'hex')), /beyond the input/],
  ['a CBOR map of length 2^32', 'mso_mdoc', nested(Buffer.from('baffffffff', 'hex')), /beyond the input/],
  ['100,000 nested tags', 'mso_mdoc', nested(Buffer.alloc(100_000, 0xc1)), /too many nested tags/],
  ['100,000 nested arrays', 'mso_mdoc', nested(Buffer.alloc(100_000, 0x81)), /nested too deeply/],
  [
    '500,000 items',
    'mso_mdoc',
    nested(Buffer.concat([Buffer.from('9a0007a120', 'hex'), Buffer.alloc(500_000)])),
    /too many items/,
  ],
]

const headed = ({ request }: Session, header: object) =>
  new URLSearchParams({
    response: `${encodeJson({ enc: 'A128GCM', kid: request.encryption!.key.kid, ...header })}.AAAA.AAAA.AAAA.AAAA`,
  })
const state = ({ request }: Session) => `"state":"${request.state}"`

type EnvelopeBomb = [title: string, make: (session: Session, holder: Holder) => Promise<URLSearchParams> | URLSearchParams]

/** Sent instead of an answer; each gets 400. */
export const ENVELOPE_BOMBS: EnvelopeBomb[] = [
  [
    '30,000 levels of JSON in the JWE',
    session => encryptedTo(session, `{${state(session)},"vp_token":${'{"a":'.repeat(30_000)}`),
  ],
  [
    '30,000 levels of arrays beside a good token',
    async (session, holder) => {
      const token = await vpToken(session.request, holder, { now: session.app.clock.now(), accept: accept('dc+sd-jwt') })
      const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
      return encryptedTo(session, `{${state(session)},"vp_token":${JSON.stringify(token)},"x":${deep}}`)
    },
  ],
  [
    '50,000 credential ids',
    session =>
      encryptedTo(session, `{${state(session)},"vp_token":{${Array.from({ length: 50_000 }, (_, i) => `"i${i}":["x"]`)}}}`),
  ],
  [
    '40,000 credential ids with escapes',
    session => {
      const ids = Array.from({ length: 40_000 }, (_, i) => `"\\u0061${i}":1`)
      return encryptedTo(session, `{${state(session)},"vp_token":{${ids}}}`)
    },
  ],
  ['PBES2 with 10^7 rounds', session => headed(session, { alg: 'PBES2-HS512+A256KW', p2s: 'AAAAAAAAAAA', p2c: 10_000_000 })],
  [
    '100 MB behind zip',
    async session => {
      const { kty, crv, x, y, kid } = session.request.encryption!.key
      const jwe = new CompactEncrypt(Buffer.alloc(100_000_000)).setProtectedHeader({
        alg: 'ECDH-ES',
        enc: 'A128GCM',
        kid,
        zip: 'DEF',
      })
      const key = await importJWK({ kty: kty!, crv: crv!, x: x!, y: y! }, 'ECDH-ES')
      return new URLSearchParams({ response: await jwe.encrypt(key) })
    },
  ],
]

/** Its certificates vouch for each other, and lead nowhere. */
export async function circularHolder(): Promise<Holder> {
  const names = ['C=UT, CN=Circle A', 'C=UT, CN=Circle B']
  const [a, b] = [await makeKeys(), await makeKeys()]
  const between = async (own: CryptoKeyPair, name: string, above: CryptoKeyPair, issuer: string) =>
    issue({
      ...AROUND_NOON,
      keys: own,
      name,
      issuer: { keys: above, name: issuer },
      extensions: [isAuthority(), signsCertificates(), await authorityKey(above)],
    })
  const circle = [
    await between(a, names[0]!, b, names[1]!),
    await between(b, names[1]!, a, names[0]!),
    await between(a, names[0]!, b, names[1]!),
    await between(b, names[1]!, a, names[0]!),
  ]
  const by = await signerFrom(await newLeaf(circle[0]!), { above: circle, root: circle[0]! })
  return await holderWith(async key => [await forgeSdJwt(by, key)])
}
