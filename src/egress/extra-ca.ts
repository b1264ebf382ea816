import { X509Certificate } from 'node:crypto'
import { ConfigError } from '../config.ts'
import { readBeginning } from '../read-beginning.ts'
import { createExtraCa, type ExtraCa } from './authorities.ts'

const BYTES_MAX = 1024 * 1024
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Only the certificates of the file VIDIMUS_EXTRA_CA; undefined without a file. */
export function readExtraCa(file: string): ExtraCa | undefined {
  if (!file) return undefined
  const blocks = readBounded(file).match(PEM_CERTIFICATE) ?? []
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

function readBounded(file: string): string {
  let text = ''
  try {
    text = readBeginning(file, BYTES_MAX + 1).toString('latin1')
  } catch {
    fail(`cannot read ${file}; check the path, and that this user may read it`)
  }
  return text.length <= BYTES_MAX
    ? text
    : fail(`${file} is larger than ${BYTES_MAX} bytes; keep only the authorities that you need`)
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
