// Extended key usage (RFC 5280 § 4.2.1.12): the purposes of a certificate, and the limits that an
// authority sets for the certificates below it.

import type { Certificate } from './x509.ts'

/** ISO/IEC 18013-5 Annex B: signer of driving licences. */
export const MDL_SIGNER = '1.0.18013.5.1.2'
/** ISO/IEC TS 23220-4: signer of other mdocs. */
export const MDOC_SIGNER = '1.0.23220.4.1.2'
/** Reference issuers of PIDs in the EU. */
const PID_SIGNER = '1.3.130.2.0.0.1.2'
/** RFC 9336. */
const DOCUMENT_SIGNING = '1.3.6.1.5.5.7.3.36'
const ANY = '2.5.29.37.0'

const MDOC_ISSUERS = new Set([MDL_SIGNER, MDOC_SIGNER, PID_SIGNER])
const ISSUERS = new Set([...MDOC_ISSUERS, DOCUMENT_SIGNING, ANY])
/**
 * Purposes of an authority: any, and those of issuing authorities (ISO/IEC 18013-5, its link
 * certificate, and the EU for PIDs).
 */
const AUTHORITIES = new Set([ANY, '1.0.18013.5.1.7', '1.0.18013.5.1.4', '1.3.130.2.0.0.1.7'])

// Readers (of driving licences, mdocs and PIDs) and signers of trust lists never sign credentials.
const FORBIDDEN = new Set(['1.0.18013.5.1.6', '1.0.23220.4.1.6', '1.3.130.2.0.0.1.6', '1.0.18013.5.1.8'])
// TLS server and client, code, mail, time stamps, OCSP: an issuer needs another purpose besides.
const FOREIGN = new Set([1, 2, 3, 4, 8, 9].map(purpose => `1.3.6.1.5.5.7.3.${purpose}`))

/** `status`: the signer of a status list, who may be somebody else than the issuer. */
export type TrustUse = 'mso_mdoc' | 'dc+sd-jwt' | 'status'

/** The reason why the path, leaf first, may not be used for this; undefined if it may. */
export function findKeyPurposeProblem(path: readonly Certificate[], use: TrustUse): string | undefined {
  const [own, ...above] = path.map(({ extendedKeyUsage }) => extendedKeyUsage)
  if (own?.purposes.some(purpose => FORBIDDEN.has(purpose))) {
    return "The issuer's certificate is that of a reader or of a trust list, not of an issuer."
  }
  const usable = own?.purposes.filter(purpose => (use === 'mso_mdoc' ? MDOC_ISSUERS.has(purpose) : !FOREIGN.has(purpose)))
  if (usable?.length === 0) {
    return use === 'mso_mdoc'
      ? `The issuer's certificate is made for another purpose than to sign mdocs: its extended key usage has none of ${[...MDOC_ISSUERS].join(', ')}.`
      : "The issuer's certificate is made for another purpose, such as a web server."
  }
  const wanted = usable === undefined || usable.includes(ANY) ? [...ISSUERS] : usable
  const isBeyond = above.some(usage => usage && !usage.purposes.some(each => AUTHORITIES.has(each) || wanted.includes(each)))
  if (isBeyond) return 'An authority of the issuer is limited to other purposes by its extended key usage.'
  const isUnknown = [own, ...above].some(usage => usage?.critical && !usage.purposes.some(isKnown))
  return isUnknown
    ? 'A certificate of the issuer has a critical extended key usage without a purpose that is known here.'
    : undefined
}

const isKnown = (purpose: string): boolean => ISSUERS.has(purpose) || AUTHORITIES.has(purpose)
