// @owf/mdoc as issuer and wallet: another implementation.
import {
  CoseKey,
  DateOnly,
  DeviceKey,
  DeviceNamespaces,
  DeviceRequest,
  DeviceResponse,
  DeviceSignedItems,
  DocRequest,
  Issuer,
  ItemsRequest,
  KeyAuthorizations,
  type MdocContext,
  type SessionTranscript,
  SignatureAlgorithm,
} from '@owf/mdoc'
import { type CurveName, hex, type Keys, makeCertificate, makeKeys } from './mdoc.ts'

export const OWF_NAME_SPACE = 'eu.europa.ec.eudi.pid.1'

/** What it presents, as our claims. */
export const OWF_CLAIMS = {
  [OWF_NAME_SPACE]: { family_name: 'Möbius', birth_date: '1984-01-26', portrait: '-_8A', nationalities: ['DE', 'AT'], age: 42 },
}

const ALGORITHMS = {
  'P-256': SignatureAlgorithm.ES256,
  'P-384': SignatureAlgorithm.ES384,
  'P-521': SignatureAlgorithm.ES512,
  Ed25519: SignatureAlgorithm.EdDSA,
}

/** The answer of a wallet to a session with this transcript. `states`: with data of the device. */
export async function presentByOwf(
  curve: CurveName,
  sessionTranscript: SessionTranscript,
  { states = false } = {},
): Promise<DeviceResponse> {
  const algorithm = ALGORITHMS[curve]
  const [issuerKeys, deviceKeys] = [await makeKeys(curve), await makeKeys(curve)]
  const context = { crypto: CRYPTO, cose: { sign1: { sign: signWith([issuerKeys, deviceKeys]) } } } as unknown as MdocContext
  const issuer = new Issuer(OWF_NAME_SPACE, context)
  issuer.addIssuerNamespace(OWF_NAME_SPACE, {
    family_name: 'Möbius',
    birth_date: new DateOnly('1984-01-26'),
    portrait: new Uint8Array(hex('fbff00')),
    nationalities: ['DE', 'AT'],
    age: 42,
    secret: 'not asked for',
  })
  const issuerSigned = await issuer.sign({
    signingKey: await privateKey(issuerKeys),
    algorithm,
    digestAlgorithm: 'SHA-256',
    certificates: [await makeCertificate(issuerKeys, '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z')],
    validityInfo: {
      signed: new Date('2026-06-01T00:00:00Z'),
      validFrom: new Date('2026-06-01T00:00:00Z'),
      validUntil: new Date('2026-07-01T00:00:00Z'),
    },
    deviceKeyInfo: {
      deviceKey: DeviceKey.fromJwk(await jwkOf(deviceKeys.publicKey, algorithm)) as DeviceKey,
      keyAuthorizations: states ? KeyAuthorizations.create({ namespaces: ['org.example.device'] }) : undefined,
    },
  })
  const asked = { family_name: true, birth_date: true, portrait: true, nationalities: true, age: true }
  const itemsRequest = ItemsRequest.create({ docType: OWF_NAME_SPACE, namespaces: { [OWF_NAME_SPACE]: asked } })
  return await DeviceResponse.createWithDeviceRequest(
    {
      deviceRequest: DeviceRequest.create({ docRequests: [DocRequest.create({ itemsRequest })] }),
      sessionTranscript,
      issuerSigned: [issuerSigned],
      deviceNamespaces: states ? deviceNamespaces() : undefined,
      signature: { signingKey: await privateKey(deviceKeys, algorithm) },
    },
    context,
  )
}

const deviceNamespaces = () =>
  DeviceNamespaces.create({
    deviceNamespaces: new Map([
      ['org.example.device', DeviceSignedItems.create({ deviceSignedItems: new Map([['nickname', 'M']]) })],
    ]),
  })

export const CRYPTO = {
  random: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
  digest: async ({ digestAlgorithm, bytes }: { digestAlgorithm: string; bytes: Uint8Array }) =>
    new Uint8Array(await crypto.subtle.digest(digestAlgorithm, new Uint8Array(bytes))),
}

const ALGORITHM_NAMES: Partial<Record<SignatureAlgorithm, string>> = {
  [SignatureAlgorithm.ES256]: 'ES256',
  [SignatureAlgorithm.ES384]: 'ES384',
  [SignatureAlgorithm.ES512]: 'ES512',
  [SignatureAlgorithm.EdDSA]: 'EdDSA',
}

/** The names of the longer curves are in small letters there. */
const CURVE_NAMES: Record<string, string> = { 'P-384': 'p-384', 'P-521': 'p-521' }

const jwkOf = async (key: CryptoKey, algorithm?: SignatureAlgorithm) => {
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', key)
  return {
    kty,
    crv: CURVE_NAMES[crv!] ?? crv,
    x,
    ...(y && { y }),
    ...(d && { d }),
    ...(algorithm && { alg: ALGORITHM_NAMES[algorithm] }),
  }
}

const privateKey = async ({ privateKey: key }: Keys, algorithm?: SignatureAlgorithm) =>
  CoseKey.fromJwk(await jwkOf(key, algorithm))

const signWith =
  (pairs: Keys[]) =>
  async ({ toBeSigned, key }: { toBeSigned: Uint8Array; key: CoseKey }): Promise<Uint8Array> => {
    const jwks = await Promise.all(pairs.map(pair => jwkOf(pair.privateKey)))
    const pair = pairs[jwks.findIndex(({ d }) => d === key.jwk.d)]!
    const hashes = { 'P-256': 'SHA-256', 'P-384': 'SHA-384', 'P-521': 'SHA-512', Ed25519: '' }
    const parameters = pair.curve === 'Ed25519' ? 'Ed25519' : { name: 'ECDSA', hash: hashes[pair.curve] }
    return new Uint8Array(await crypto.subtle.sign(parameters, pair.privateKey, new Uint8Array(toBeSigned)))
  }
