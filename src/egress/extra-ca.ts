import { X509Certificate } from 'node:crypto'
import { ConfigError, readNamedFile } from '../config.ts'
import { createExtraCa, type ExtraCa } from './authorities.ts'

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Only the certificates of the file VIDIMUS_EXTRA_CA; undefined without a file. */
export function readExtraCa(file: string): ExtraCa | undefined {
  if (!file) return undefined
  const blocks = readNamedFile('VIDIMUS_EXTRA_CA', file).match(PEM_CERTIFICATE) ?? []
  if (blocks.length === 0) fail(`${file} holds no certificate; it must be PEM (-----BEGIN CERTIFICATE-----)`)
  for (const [index, block] of blocks.entries()) {
    const certificate = parse(block) ?? fail(`certificate ${index + 1} in ${file} cannot be read; export it again as PEM`)
    if (!certificate.ca) {
      fail(`certificate ${index + 1} in ${file} is not an authority's; name the one that issued it, not the server's own`)
    }
  }
  return createExtraCa(blocks.join('\n'))
}

/** The certificates that `readExtraCa` has read, one by one. */
export function authoritiesIn({ pem }: ExtraCa): X509Certificate[] {
  return (pem.match(PEM_CERTIFICATE) ?? []).map(block => new X509Certificate(block))
}

function parse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

function fail(hint: string): never {
  throw new ConfigError(`VIDIMUS_EXTRA_CA: ${hint}`)
}
