import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { Log } from '../base/log.ts'
import { isoUtc } from '../base/time.ts'
import { type Config, ConfigError, readNamedFile } from '../config.ts'

/** PEM, in the form the runtime takes. */
export type TlsPair = { cert: string; key: string; notBefore: number; notAfter: number }

type Files = NonNullable<Config['tls']>
type Reason = 'cert_unreadable' | 'key_unreadable' | 'no_certificate' | 'no_key' | 'other_key'

/** `reason` is for the German page of the dashboard; the message has more. */
export class UnusablePair extends ConfigError {
  override name = 'UnusablePair'
  constructor(
    readonly reason: Reason,
    message: string,
  ) {
    super(message)
  }
}

/** Throws an UnusablePair. A key of another certificate would fail every handshake. */
export function readTlsPair({ certFile, keyFile }: Files): TlsPair {
  const cert = readPart('cert_unreadable', 'VIDIMUS_TLS_CERT', certFile)
  const key = readPart('key_unreadable', 'VIDIMUS_TLS_KEY', keyFile)
  const certificate = parseCertificate(cert, certFile)
  if (!certificate.checkPrivateKey(parseKey(key, keyFile)))
    throw new UnusablePair('other_key', `VIDIMUS_TLS_KEY: ${keyFile} is not the key of the first certificate in ${certFile}`)
  return { cert, key, notBefore: certificate.validFromDate.getTime(), notAfter: certificate.validToDate.getTime() }
}

function readPart(reason: Reason, variable: 'VIDIMUS_TLS_CERT' | 'VIDIMUS_TLS_KEY', file: string): string {
  try {
    return readNamedFile(variable, file)
  } catch (error) {
    throw error instanceof ConfigError ? new UnusablePair(reason, error.message) : error
  }
}

/** Reads every certificate: a chain with a broken one fails only at the client. */
function parseCertificate(pem: string, file: string): X509Certificate {
  try {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
    const [leaf] = blocks.map(block => new X509Certificate(block))
    if (leaf) return leaf
  } catch {
    // Reported below, like a file without any certificate.
  }
  const message = `VIDIMUS_TLS_CERT: ${file} holds no readable certificate; it must be PEM, the leaf first`
  throw new UnusablePair('no_certificate', message)
}

function parseKey(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    const message = `VIDIMUS_TLS_KEY: ${file} holds no readable private key; it must be PEM, without a passphrase`
    throw new UnusablePair('no_key', message)
  }
}

/** Outside its dates a certificate is served all the same: clients may accept it, and not starting helps nobody. */
export function warnOfDates({ notBefore, notAfter }: TlsPair, now: number, log: Log): void {
  if (notAfter <= now) log.warn('tls.certificate_expired', { detail: `it was valid until ${isoUtc(notAfter)}; renew it` })
  if (notBefore > now) {
    const detail = `it is valid from ${isoUtc(notBefore)} on; serve the one before it until then, or if the time is wrong here, set the clock right`
    log.warn('tls.certificate_not_yet_valid', { detail })
  }
}
