// Whether a list is signed by somebody the operator has pinned. ETSI lists: the very signing certificate (TS 119 615
// PRO-4.1.4-07), because its CA signs for colleagues too. VICAL: the signer, or a CA above it plus the signer's purpose.
import { X509Certificate } from 'node:crypto'
import { sha256Hex } from '../base/hash.ts'
import { isoUtc } from '../base/time.ts'
import { findLimitProblem, linkChain, pathTo } from '../openid4vp/x509/certification-path.ts'
import { type Certificate, describeCertificate } from '../openid4vp/x509/x509.ts'
import type { ListKind, ListRefused, TrustList } from './list.ts'
import { refuse } from './refuse.ts'

/** `fingerprint` is the SHA-256 of the DER in hex, `certificate` PEM. */
export type Pin = { fingerprint: string; certificate: string | null }

export type ListSigner = { fingerprint: string; subject: string; notBefore: number; notAfter: number }

/** ISO/IEC 18013-5 Annex C: signer of a VICAL. */
const VICAL_SIGNER = '1.0.18013.5.1.8'
const ANY_PURPOSE = '2.5.29.37.0'

type SignedList = Pick<TrustList, 'kind' | 'chain'>

/** `signer` is the fingerprint of the signing certificate. */
export function judgeSigner(list: SignedList, pins: readonly Pin[], now: number): { ok: true; signer: string } | ListRefused {
  const { fingerprint } = signerOf(list)
  const path = pinnedPath(list, pins)
  if (!path) return refuse('signer_unknown', `signed by ${fingerprint}, which you have not pinned`)
  const [outside] = path.filter(({ notBefore, notAfter }) => now < notBefore || now > notAfter)
  if (!outside) return { ok: true, signer: fingerprint }
  const whose = outside === path[0] ? `signed by ${fingerprint}, whose certificate` : `signed by ${fingerprint}, whose CA`
  return refuse(
    'signer_expired',
    now > outside.notAfter
      ? `${whose} expired on ${isoUtc(outside.notAfter).slice(0, 10)}`
      : `${whose} is not valid before ${isoUtc(outside.notBefore).slice(0, 10)}`,
  )
}

/** The certificates from the signer to a pin, both included. */
function pinnedPath({ kind, chain }: SignedList, pins: readonly Pin[]): Certificate[] | undefined {
  const [leaf] = chain
  const signer = leaf && describeCertificate(leaf)
  if (!signer) return undefined
  if (pins.some(({ fingerprint }) => fingerprint === sha256Hex(signer.der))) return [signer]
  if (kind !== 'vical' || !isVicalSigner(signer)) return undefined
  const linked = linkChain(chain)
  if (!linked.ok) return undefined
  for (const authority of pins.flatMap(pin => pinnedAuthority(pin, chain) ?? [])) {
    const path = pathTo(linked.certificates, authority)
    if (path && !findLimitProblem(path) && path.slice(1).every(maySignLists)) return path
  }
  return undefined
}

const isVicalSigner = ({ extendedKeyUsage }: Certificate): boolean => extendedKeyUsage?.purposes.join() === VICAL_SIGNER

/** An authority that is limited to other purposes vouches for no list. */
const maySignLists = ({ extendedKeyUsage }: Certificate): boolean =>
  !extendedKeyUsage || extendedKeyUsage.purposes.some(purpose => purpose === VICAL_SIGNER || purpose === ANY_PURPOSE)

/** The authority's certificate: pinned as PEM, or sent in the chain. */
function pinnedAuthority({ fingerprint, certificate }: Pin, chain: readonly Uint8Array[]): Certificate | undefined {
  const candidates = certificate ? [new X509Certificate(certificate).raw, ...chain] : chain
  const der = candidates.find(candidate => sha256Hex(candidate) === fingerprint)
  return der && describeCertificate(der)
}

export function signerOf({ chain }: { chain: TrustList['chain'] }): ListSigner {
  const [leaf] = chain
  const signer = leaf && describeCertificate(leaf)
  if (!signer) throw new Error('a list that was read has a readable signer')
  return {
    fingerprint: sha256Hex(signer.der),
    subject: new X509Certificate(signer.der).subject.split('\n').join(', '),
    notBefore: signer.notBefore,
    notAfter: signer.notAfter,
  }
}

/** The reason why this certificate cannot be pinned for such lists; undefined if it can. */
export function refuseCaPin(kind: ListKind, certificatePem: string): string | undefined {
  const certificate = describePem(certificatePem)
  if (!certificate) return 'the file holds no readable certificate; it must be PEM'
  return kind !== 'vical' && certificate.basicConstraints?.ca
    ? 'this certificate is a CA: whoever it certifies could sign the list; pin the certificate that signs the list itself'
    : undefined
}

function describePem(pem: string): Certificate | undefined {
  try {
    return describeCertificate(new X509Certificate(pem).raw)
  } catch {
    return undefined
  }
}
