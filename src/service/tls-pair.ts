import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Config, ConfigError } from '../config.ts'
import type { Log } from '../log.ts'
import { isoUtc } from '../time.ts'

/** As the runtime takes it. */
export type TlsPair = { cert: string; key: string; notAfter: number }

/** Throws a ConfigError that says what is wrong with the pair; one that does not fit together would fail every handshake. */
export function readTlsPair({ certFile, keyFile }: NonNullable<Config['tls']>): TlsPair {
  const cert = readPem('VIDIMUS_TLS_CERT', certFile)
  const key = readPem('VIDIMUS_TLS_KEY', keyFile)
  const certificate = parseCertificate(cert, certFile)
  if (!certificate.checkPrivateKey(parseKey(key, keyFile)))
    throw new ConfigError(`VIDIMUS_TLS_KEY: ${keyFile} is not the key of the first certificate in ${certFile}`)
  return { cert, key, notAfter: certificate.validToDate.getTime() }
}

function readPem(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new ConfigError(`${variable}: cannot read ${file}`)
  }
}

/** Each of them, because a chain with a broken link fails only at the client. */
function parseCertificate(pem: string, file: string): X509Certificate {
  try {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
    const [leaf] = blocks.map(block => new X509Certificate(block))
    if (leaf) return leaf
  } catch {
    // Told below, the same as for a file without any certificate.
  }
  throw new ConfigError(`VIDIMUS_TLS_CERT: ${file} holds no readable certificate; it must be PEM, the leaf first`)
}

function parseKey(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw new ConfigError(`VIDIMUS_TLS_KEY: ${file} holds no readable private key; it must be PEM, without a passphrase`)
  }
}

/** It is served all the same: a client may be told to go on, and a service that does not start helps nobody. */
export function warnOfExpiredPair({ notAfter }: TlsPair, now: number, log: Log): void {
  if (notAfter <= now) log.warn('tls.certificate_expired', { detail: `it was valid until ${isoUtc(notAfter)}; renew it` })
}
