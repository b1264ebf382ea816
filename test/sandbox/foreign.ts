// Verification by other implementations.
import 'reflect-metadata'
import { createHash, createPublicKey, type KeyObject, verify, X509Certificate } from 'node:crypto'
import { CoseKey, DeviceResponse, type MdocContext, SessionTranscript, Verifier } from '@owf/mdoc'
import { X509Certificate as ParsedCertificate } from '@peculiar/x509'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import { issuer, NOW, type SessionOf } from './world.ts'

type Es256 = { key: KeyObject; signed: Uint8Array; signature: Uint8Array }

const isEs256 = ({ key, signed, signature }: Es256): boolean =>
  verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)

const notUsed = () => {
  throw new Error('not used')
}

export const context: Pick<MdocContext, 'cose' | 'crypto' | 'x509'> = {
  crypto: {
    random: notUsed,
    digest: ({ digestAlgorithm, bytes }) =>
      new Uint8Array(createHash(digestAlgorithm.replace('-', '').toLowerCase()).update(bytes).digest()),
    calculateEphemeralMacKey: notUsed,
  },
  cose: {
    sign1: {
      sign: notUsed,
      verify: ({ key, sign1 }) =>
        isEs256({
          key: createPublicKey({ key: key.jwk as JsonWebKey, format: 'jwk' }),
          signed: sign1.toBeSigned,
          signature: sign1.signature,
        }),
    },
    mac0: { sign: notUsed, verify: notUsed },
  },
  x509: {
    getIssuerNameField: ({ certificate, field }) =>
      new ParsedCertificate(Uint8Array.from(certificate)).issuerName.getField(field),
    getPublicKey: ({ certificate }) =>
      CoseKey.fromJwk(new X509Certificate(certificate).publicKey.export({ format: 'jwk' }) as Record<string, unknown>),
    verifyCertificateChain: ({ trustedCertificates, x5chain, now = new Date() }) => {
      const [leaf] = x5chain.map(der => new X509Certificate(der))
      const root = trustedCertificates.map(der => new X509Certificate(der)).find(anchor => leaf!.checkIssued(anchor))
      if (!root || !leaf!.verify(root.publicKey)) throw new Error('no chain to a trusted root')
      if (now < leaf!.validFromDate || now > leaf!.validToDate) throw new Error('the signer is not valid now')
    },
    getCertificateData: ({ certificate }) => {
      const { issuer, subject, serialNumber, fingerprint256, validFromDate, validToDate } = new X509Certificate(certificate)
      return {
        issuerName: issuer,
        subjectName: subject,
        serialNumber,
        thumbprint: fingerprint256,
        notBefore: validFromDate,
        notAfter: validToDate,
        pem: '',
      }
    },
  },
}

/** The document, verified by @owf/mdoc (issuer, digests and device); throws otherwise. */
export async function verifyMdoc(presentation: string, session: SessionOf, { isEncrypted = true } = {}) {
  const { client_id: clientId, nonce, response_uri: responseUri } = session.parameters
  const jwkThumbprint = isEncrypted ? { jwkThumbprint: session.thumbprint } : {}
  const sessionTranscript = await SessionTranscript.forOid4Vp({ clientId, nonce, responseUri, ...jwkThumbprint }, context)
  const deviceResponse = new Uint8Array(Buffer.from(presentation, 'base64url'))
  await Verifier.verifyDeviceResponse(
    { deviceResponse, sessionTranscript, trustedCertificates: [issuer.anchor], now: new Date(NOW) },
    context,
  )
  return DeviceResponse.decode(deviceResponse).documents![0]!
}

/** The processed payload, verified by @sd-jwt/sd-jwt-vc (issuer and key binding); throws otherwise. */
export async function verifySdJwt(presentation: string, session: SessionOf): Promise<Record<string, unknown>> {
  const [header = ''] = presentation.split('.')
  const { x5c } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { x5c: string[] }
  const leaf = new X509Certificate(Buffer.from(x5c[0]!, 'base64'))
  if (!leaf.verify(new X509Certificate(issuer.anchor).publicKey)) throw new Error('no chain to a trusted root')
  const check = (key: KeyObject, text: string, signature: string) =>
    isEs256({ key, signed: Buffer.from(text), signature: Buffer.from(signature, 'base64url') })
  const instance = new SDJwtVcInstance({
    hasher: (text, algorithm) =>
      createHash(algorithm.replace('-', ''))
        .update(Buffer.from(text as string))
        .digest(),
    hashAlg: 'sha-256',
    verifier: (text, signature) => check(leaf.publicKey, text, signature),
    kbVerifier: (text, signature, payload) => {
      const { jwk } = (payload as unknown as { cnf: { jwk: JsonWebKey } }).cnf
      return check(createPublicKey({ key: jwk, format: 'jwk' }), text, signature)
    },
    statusListFetcher: () => issuer.statusListToken(NOW),
    statusVerifier: (text, signature) => check(leaf.publicKey, text, signature),
  })
  const { payload, kb } = await instance.verify(presentation, {
    currentDate: Math.floor(NOW / 1000),
    keyBindingNonce: session.parameters.nonce,
  })
  if (kb?.payload.aud !== session.parameters.client_id) throw new Error('the audience is another')
  return payload as unknown as Record<string, unknown>
}
