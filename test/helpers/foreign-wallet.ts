// A wallet and an issuer of implementations that are not ours: @openid4vc/openid4vp reads requests and builds answers,
// @sd-jwt/sd-jwt-vc and @owf/mdoc issue and present. From here come only the certificates and the cryptography they ask for.
import { createHash, createPrivateKey, randomBytes, sign, X509Certificate } from 'node:crypto'
import { Openid4vpClient } from '@openid4vc/openid4vp'
import {
  CoseKey,
  DateOnly,
  DeviceKey,
  DeviceRequest,
  type DeviceResponse,
  DocRequest,
  Holder,
  Issuer,
  ItemsRequest,
  type MdocContext,
  type SessionTranscript,
  SignatureAlgorithm,
} from '@owf/mdoc'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import { CompactEncrypt, compactVerify, exportJWK, importJWK, importX509 } from 'jose'
import { newPrivateJwk, type PrivateJwk, publicJwk } from '../../src/sandbox/es256.ts'
import { DAY_MS } from './certificates.ts'
import type { signerFrom } from './forger.ts'

const es256 = (jwk: PrivateJwk, data: Uint8Array): Uint8Array =>
  new Uint8Array(sign('sha256', data, { key: createPrivateKey({ key: { ...jwk }, format: 'jwk' }), dsaEncoding: 'ieee-p1363' }))

/** @openid4vc/openid4vp with the cryptography it asks for. */
export const openIdClient = (fetch: typeof globalThis.fetch) =>
  new Openid4vpClient({
    callbacks: {
      fetch,
      hash: (data, algorithm) => new Uint8Array(createHash(algorithm.replace('-', '')).update(data).digest()),
      async verifyJwt(by, { compact }) {
        if (by.method !== 'x5c') return { verified: false }
        const leaf = new X509Certificate(Buffer.from(by.x5c[0] ?? '', 'base64'))
        const key = await importX509(leaf.toString(), by.alg, { extractable: true })
        await compactVerify(compact, key)
        return { verified: true, signerJwk: (await exportJWK(key)) as { kty: string } }
      },
      getX509CertificateMetadata: certificate => ({
        sanDnsNames: [new X509Certificate(Buffer.from(certificate, 'base64')).subjectAltName?.replace('DNS:', '') ?? ''],
        sanUriNames: [],
      }),
      async encryptJwe({ publicJwk: jwk, alg, enc, apu, apv }, data) {
        const jwe = new CompactEncrypt(new TextEncoder().encode(data)).setProtectedHeader({ alg, enc, kid: String(jwk.kid) })
        const bytes = (text = '') => Buffer.from(text, 'base64url')
        if (apu || apv) jwe.setKeyManagementParameters({ apu: bytes(apu), apv: bytes(apv) })
        return { encryptionJwk: jwk, jwe: await jwe.encrypt(await importJWK(jwk as JsonWebKey & { kty: string }, alg)) }
      },
      signJwt: () => Promise.reject(new Error('nothing of the answer is signed')),
      decryptJwe: () => Promise.reject(new Error('the request is not encrypted')),
    },
  })

/** How answers are encrypted; what is missing here comes from the request. */
export const ENCRYPTED = {
  encryption: { nonce: randomBytes(16).toString('base64url') },
  serverMetadata: {
    authorization_signing_alg_values_supported: [],
    authorization_encryption_alg_values_supported: ['ECDH-ES'],
    authorization_encryption_enc_values_supported: ['A256GCM', 'A128GCM'],
  },
}

export type SdJwtDocument = { vct: string; claims: Record<string, unknown>; frame: object }

export type MdocDocument = { docType: string; namespace: string; elements: Record<string, unknown> }

export type QueryCredential = {
  id: string
  format: string
  meta: { doctype_value?: string }
  claims: { path: (string | number)[] }[]
}

export const PID: SdJwtDocument = {
  vct: 'urn:eudi:pid:1',
  claims: {
    family_name: 'Lovelace',
    given_name: 'Ada',
    birthdate: '1990-12-10',
    age_equal_or_over: { 16: true, 18: true, 65: false },
    address: { locality: 'London', country: 'GB' },
    nationalities: ['GB', 'FR'],
  },
  frame: {
    _sd: ['family_name', 'given_name', 'birthdate', 'age_equal_or_over', 'address', 'nationalities'],
    age_equal_or_over: { _sd: ['16', '18', '65'] },
    nationalities: { _sd: [0, 1] },
    _sd_decoy: 2,
  },
}
export const MDL: MdocDocument = {
  docType: 'org.iso.18013.5.1.mDL',
  namespace: 'org.iso.18013.5.1',
  elements: {
    family_name: 'Lovelace',
    given_name: 'Ada',
    birth_date: new DateOnly('1990-12-10'),
    issue_date: new DateOnly('2025-01-15'),
    expiry_date: new DateOnly('2035-01-14'),
    issuing_country: 'UT',
    issuing_authority: 'Ministry',
    document_number: 'X1',
    portrait: new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]),
    driving_privileges: [{ vehicle_category_code: 'B', issue_date: new DateOnly('2015-01-15') }],
    un_distinguishing_sign: 'UTO',
    age_over_18: true,
    age_over_65: false,
  },
}
export const PID_MDOC: MdocDocument = {
  docType: 'eu.europa.ec.eudi.pid.1',
  namespace: 'eu.europa.ec.eudi.pid.1',
  elements: { family_name: 'Lovelace', given_name: 'Ada', birth_date: new DateOnly('1990-12-10') },
}
export const PROOF_OF_AGE: MdocDocument = {
  docType: 'eu.europa.ec.av.1',
  namespace: 'eu.europa.ec.av.1',
  elements: { age_over_16: true, age_over_18: true, age_over_65: false },
}

const notUsed = () => {
  throw new Error('not used')
}

export const mdocContext: Pick<MdocContext, 'crypto' | 'cose'> = {
  crypto: {
    random: length => new Uint8Array(randomBytes(length)),
    digest: ({ digestAlgorithm, bytes }) =>
      new Uint8Array(createHash(digestAlgorithm.replace('-', '').toLowerCase()).update(bytes).digest()),
    calculateEphemeralMacKey: notUsed,
  },
  cose: {
    sign1: { sign: ({ key, toBeSigned }) => es256(key.jwk as PrivateJwk, toBeSigned), verify: notUsed },
    mac0: { sign: notUsed, verify: notUsed },
  },
}

/** Documents of a trusted signer, held under one device key. */
export async function foreignWallet(signer: Awaited<ReturnType<typeof signerFrom>>, now: number) {
  const device = await newPrivateJwk()

  const sdJwtLibrary = () =>
    new SDJwtVcInstance({
      hasher: (data, algorithm) =>
        createHash(algorithm.replace('-', ''))
          .update(typeof data === 'string' ? data : new Uint8Array(data))
          .digest(),
      hashAlg: 'sha-256',
      signAlg: 'ES256',
      saltGenerator: length => randomBytes(length).toString('hex').slice(0, length),
      signer: text => Buffer.from(es256(signer.key, Buffer.from(text))).toString('base64url'),
      kbSigner: text => Buffer.from(es256(device, Buffer.from(text))).toString('base64url'),
      kbSignAlg: 'ES256',
    })

  async function presentSdJwt(
    { vct, claims, frame }: SdJwtDocument,
    { aud, nonce }: { aud: string; nonce: string },
    asked: QueryCredential['claims'],
  ): Promise<string> {
    const library = sdJwtLibrary()
    const seconds = Math.floor(now / 1000)
    const issued = await library.issue(
      {
        iss: 'https://issuer.example',
        vct,
        iat: seconds - 60,
        exp: seconds + 86_400,
        cnf: { jwk: publicJwk(device) },
        ...claims,
      },
      frame as never,
      { header: { x5c: signer.chain.map(der => Buffer.from(der).toString('base64')) } },
    )
    return await library.present(issued, frameOf(asked) as never, { kb: { payload: { iat: seconds, aud, nonce } } })
  }

  async function presentMdoc(
    { docType, namespace, elements }: MdocDocument,
    sessionTranscript: SessionTranscript,
    asked: QueryCredential['claims'] | DocRequest,
  ): Promise<string> {
    const issuer = new Issuer(docType, mdocContext).addIssuerNamespace(namespace, elements)
    const issuerSigned = await issuer.sign({
      signingKey: CoseKey.fromJwk({ ...signer.key }),
      algorithm: SignatureAlgorithm.ES256,
      digestAlgorithm: 'SHA-256',
      validityInfo: { signed: new Date(now - 1000), validFrom: new Date(now - 1000), validUntil: new Date(now + DAY_MS) },
      deviceKeyInfo: { deviceKey: DeviceKey.fromJwk({ ...publicJwk(device) }) },
      certificates: signer.chain.map(der => new Uint8Array(der)),
    })
    const docRequest = Array.isArray(asked) ? docRequestOf(docType, namespace, asked) : asked
    const response: DeviceResponse = await Holder.createDeviceResponseForDeviceRequest(
      {
        deviceRequest: DeviceRequest.create({ docRequests: [docRequest] }),
        sessionTranscript,
        issuerSigned: [issuerSigned],
        signature: { signingKey: CoseKey.fromJwk({ ...device, alg: 'ES256' }) },
      },
      mdocContext,
    )
    return Buffer.from(response.encode()).toString('base64url')
  }

  return { presentSdJwt, presentMdoc }
}

function docRequestOf(docType: string, namespace: string, claims: QueryCredential['claims']): DocRequest {
  const elements = Object.fromEntries(claims.map(({ path }) => [String(path[1]), false]))
  return DocRequest.create({ itemsRequest: ItemsRequest.create({ docType, namespaces: { [namespace]: elements } }) })
}

/** The claims a query names, as the presentation frame of an SD-JWT. */
function frameOf(claims: QueryCredential['claims']): Record<string, unknown> {
  const frame: Record<string, unknown> = {}
  for (const { path } of claims) {
    let at = frame
    for (const [depth, step] of path.entries()) {
      const isLast = depth === path.length - 1
      at[step] = isLast ? true : (at[step] ?? {})
      at = at[step] as Record<string, unknown>
    }
  }
  return frame
}
