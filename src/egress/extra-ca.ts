import { X509Certificate } from 'node:crypto'
import { createExtraCa, type ExtraCa } from './authorities.ts'

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Only the certificates of a PEM text, or why none of it can be used. `file` is its name for people. */
export function parseExtraCa(text: string, file: string): ExtraCa | { problem: string } {
  const blocks = text.match(PEM_CERTIFICATE) ?? []
  if (blocks.length === 0) return { problem: `${file} holds no certificate; it must be PEM (-----BEGIN CERTIFICATE-----)` }
  for (const [index, block] of blocks.entries()) {
    const certificate = parse(block)
    if (!certificate) return { problem: `certificate ${index + 1} in ${file} cannot be read; export it again as PEM` }
    if (!certificate.ca) {
      const problem = `certificate ${index + 1} in ${file} is not an authority's; name the one that issued it, not the server's own`
      return { problem }
    }
  }
  return createExtraCa(blocks.join('\n'))
}

/** The certificates that `parseExtraCa` took, one by one. */
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
