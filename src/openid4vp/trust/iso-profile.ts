// ISO/IEC 18013-5 Annex B: the certificate profile of mobile driving licences. Every broken rule is named, so that the operator
// can report it to the issuing authority, or trust that issuer without the profile.

import { isIssuedBy, isSame } from '../x509/certification-path.ts'
import type { Certificate, KeyUsage } from '../x509/x509.ts'

const SIGNER_DAYS_MAX = 457
const ROOT_YEARS_MAX = 20
const DAY_MS = 86_400_000

type Rule = { name: string; holds: (certificate: Certificate) => boolean }

const SIGNER_RULES: Rule[] = [
  { name: 'its key usage is not exactly digitalSignature, critical', holds: hasKeyUsages(['digitalSignature']) },
  {
    name: `it is valid for more than ${SIGNER_DAYS_MAX} days`,
    holds: ({ notBefore, notAfter }) => notAfter - notBefore <= SIGNER_DAYS_MAX * DAY_MS,
  },
  { name: 'it has no authority key identifier', holds: ({ authorityKeyIdentifier }) => authorityKeyIdentifier !== undefined },
  { name: 'its subject key identifier is not the SHA-1 of its key', holds: hasSha1KeyIdentifier },
  { name: 'its subject has no country', holds: ({ subjectAttributes }) => subjectAttributes.country !== undefined },
  { name: 'it has no issuer alternative name', holds: ({ hasIssuerAltName }) => hasIssuerAltName },
  { name: 'it has no CRL distribution point', holds: ({ crlUris }) => crlUris !== undefined },
]

const ROOT_RULES: Rule[] = [
  { name: 'it is not self-signed', holds: certificate => isIssuedBy(certificate, certificate) },
  {
    name: 'its basic constraints are not CA with path length 0, critical',
    holds: ({ basicConstraints }) =>
      basicConstraints?.critical === true && basicConstraints.ca && basicConstraints.pathLength === 0,
  },
  { name: 'its key usage is not exactly keyCertSign and cRLSign, critical', holds: hasKeyUsages(['keyCertSign', 'cRLSign']) },
  { name: `it is valid for more than ${ROOT_YEARS_MAX} years`, holds: isValidForYearsAtMost(ROOT_YEARS_MAX) },
  { name: 'its subject has no country', holds: ({ subjectAttributes }) => subjectAttributes.country !== undefined },
  { name: 'its subject has no common name', holds: ({ subjectAttributes }) => subjectAttributes.commonName !== undefined },
  { name: 'its subject key identifier is not the SHA-1 of its key', holds: hasSha1KeyIdentifier },
  { name: 'it has no issuer alternative name', holds: ({ hasIssuerAltName }) => hasIssuerAltName },
  { name: 'it has no CRL distribution point', holds: ({ crlUris }) => crlUris !== undefined },
]

/**
 * The broken rules of a path from a document signer, with one of the purposes, to its root. The
 * rules about the root do not apply to a pinned signer.
 */
export function isoViolations(path: readonly Certificate[], purposes: readonly string[]): string[] {
  const [signer, root] = path
  if (!signer) return []
  const own = signerViolations(signer, purposes).map(rule => `of the document signer, ${rule}`)
  if (!root) return own
  if (path.length > 2) return [...own, 'the document signer is not issued by the trusted root directly']
  return [...own, ...rootViolations(root).map(rule => `of the root, ${rule}`), ...pairViolations(signer, root)]
}

/** `purposes`: one of them must be its only extended key usage. */
export function signerViolations(signer: Certificate, purposes: readonly string[]): string[] {
  const [purpose = '', ...others] = signer.extendedKeyUsage?.purposes ?? []
  const isSigner = signer.extendedKeyUsage?.critical === true && others.length === 0 && purposes.includes(purpose)
  const broken = SIGNER_RULES.filter(({ holds }) => !holds(signer)).map(({ name }) => name)
  return isSigner ? broken : [`its extended key usage is not exactly ${purposes.join(' or ')}, critical`, ...broken]
}

export function rootViolations(root: Certificate): string[] {
  return ROOT_RULES.filter(({ holds }) => !holds(root)).map(({ name }) => name)
}

// Names and key identifiers are not compared again: the path already matched them.
function pairViolations({ subjectAttributes: signer }: Certificate, { subjectAttributes: root }: Certificate): string[] {
  return [
    signer.country !== root.country && 'the document signer and the root have different countries',
    root.state !== undefined && signer.state !== root.state && 'the document signer and the root have different states',
  ].filter(violation => typeof violation === 'string')
}

function hasKeyUsages(usages: readonly KeyUsage[]): Rule['holds'] {
  return ({ keyUsage }) => keyUsage?.critical === true && keyUsage.usages.join() === usages.join()
}

function hasSha1KeyIdentifier({ subjectKeyIdentifier, key }: Certificate): boolean {
  return subjectKeyIdentifier !== undefined && isSame(subjectKeyIdentifier, key.sha1)
}

function isValidForYearsAtMost(years: number): Rule['holds'] {
  return ({ notBefore, notAfter }) => {
    const limit = new Date(notBefore)
    return notAfter <= limit.setUTCFullYear(limit.getUTCFullYear() + years)
  }
}
