// Checks whether an authority revoked a certificate between a signer and the trusted anchor. Lists are kept until they expire
// or are a day old. If a refresh fails, the old list is used until it expires.

import { Lru } from '../../base/lru.ts'
import type { Check, Failure, Findings } from '../finding.ts'
import { CertificateDigests } from '../x509/certificate-digest.ts'
import { CRL_BYTES_MAX, type Crl, CrlFault, readCrl } from '../x509/crl.ts'
import type { Certificate } from '../x509/x509.ts'

/** The caller guards the destination and limits time and size (CRL_BYTES_MAX). `reason` is a clause for the merchant. */
export type FetchCrl = (uri: string) => Promise<{ ok: true; body: Uint8Array } | { ok: false; reason: string }>

/** The effect of an unreadable list: no list is read at all, a warning, or a refusal. */
export type CrlPolicy = 'off' | 'warn' | 'require'

/** What the merchant reads of a list: an unread one says nothing about the signer, so it may be another check. */
type Report = { check: Check; failure: Failure; words: string }
type Signer = { revoked: Report; unread: Report; waitMs: number }

/** Limits for all lists of one path. The wallet closes its connection after 15 seconds, and a status list takes 5 of them. */
const SIGNERS = {
  issuer: {
    revoked: {
      check: 'issuer_chain',
      failure: 'issuer_untrusted',
      words: 'The authority of the issuer has revoked its certificate.',
    },
    unread: {
      check: 'status',
      failure: 'issuer_status_unknown',
      words: "The revocation list for the issuer's certificate could not be used",
    },
    waitMs: 6000,
  },
  status: {
    revoked: {
      check: 'status',
      failure: 'status_unknown',
      words: "The certificate that the issuer's status list is signed with was revoked, so the credential may be revoked.",
    },
    unread: {
      check: 'status',
      failure: 'status_unknown',
      words: 'The revocation list for the signer of the status list could not be used',
    },
    waitMs: 3000,
  },
} as const satisfies Record<string, Signer>

export type CrlChecker = {
  /** `path` is leaf first, anchor last. The anchor is not checked: only the operator can remove it. */
  check(findings: Findings, path: readonly Certificate[], policy: CrlPolicy, signer?: keyof typeof SIGNERS): Promise<void>
  /** Addresses of the lists that were used lately. */
  known(): string[]
}

const LISTS_MAX = 100
/** Addresses of its list that are tried for one certificate. */
const PLACES_MAX = 3
const LISTS_BYTES_MAX = 32 * 1024 * 1024
/** Approximate memory of one entry. */
const ENTRY_BYTES = 100
const KEPT_MS_MAX = 24 * 3600 * 1000
/** An unreachable host is not asked again for each credential. */
const FAULT_KEPT_MS = 10_000

type CachedCrl = { crl: Crl; refreshAt: number }

/** RFC 5280 § 6.3.3 (b) (2) (i). A list for other places is a part for other certificates, served at the wrong address. */
function madeFor(own: readonly string[], crl: Crl): Crl {
  if (crl.places && !crl.places.some(place => own.includes(place))) throw new CrlFault('it is made for another address')
  return crl
}

const isWebAddress = (uri: string): boolean => /^https?:\/\//i.test(uri)

export function createCrlChecker(fetchCrl: FetchCrl, now: () => number, waitMs?: number): CrlChecker {
  const kept = new Lru<CachedCrl>({
    countMax: LISTS_MAX,
    weightMax: LISTS_BYTES_MAX,
    weigh: ({ crl }) => crl.revoked.size * ENTRY_BYTES,
  })
  const faults = new Lru<{ fault: CrlFault; until: number }>({ countMax: LISTS_MAX })
  const underWay = new Map<string, Promise<Crl>>()
  const digests = new CertificateDigests()

  /** `own`: the places that the certificate names for its list. A list is kept for certificates that name the same. */
  async function listAt(uri: string, authority: Certificate, own: readonly string[], timeUp: Promise<never>): Promise<Crl> {
    const key = JSON.stringify([uri, digests.of(authority.der), own])
    const known = kept.get(key)
    if (known && now() < known.refreshAt) return known.crl
    try {
      const failed = faults.get(key)
      if (failed && now() < failed.until) throw failed.fault
      const refreshed = underWay.get(key) ?? refresh(key, () => fetchList(uri, authority, own), known?.crl)
      underWay.set(key, refreshed)
      // A list that arrives too late for this answer is kept for the next one.
      return await Promise.race([refreshed, timeUp])
    } catch (error) {
      if (known && now() < known.crl.nextUpdate) return known.crl
      throw error
    }
  }

  async function refresh(key: string, fetch: () => Promise<Crl>, known: Crl | undefined): Promise<Crl> {
    try {
      const fetched = await fetch()
      // An older list that is still valid may be a replay that hides a revocation.
      const crl = known && known.nextUpdate > now() && known.thisUpdate > fetched.thisUpdate ? known : fetched
      kept.set(key, { crl, refreshAt: Math.min(crl.nextUpdate, now() + KEPT_MS_MAX) })
      return crl
    } catch (error) {
      const fault = error instanceof CrlFault ? error : new CrlFault('it could not be reached', { cause: error })
      faults.set(key, { fault, until: now() + FAULT_KEPT_MS })
      throw fault
    } finally {
      underWay.delete(key)
    }
  }

  async function fetchList(uri: string, authority: Certificate, own: readonly string[]): Promise<Crl> {
    const answer = await fetchCrl(uri)
    if (!answer.ok) throw new CrlFault(answer.reason)
    if (answer.body.length > CRL_BYTES_MAX) throw new CrlFault('it is too large')
    // Before it is kept: it would be in the place of the right one.
    return madeFor(own, readCrl(answer.body, authority, now()))
  }

  /** The first address with a list that covers the certificate decides. */
  async function isRevoked(certificate: Certificate, authority: Certificate, timeUp: Promise<never>): Promise<boolean> {
    const own = certificate.crlUris ?? []
    let fault = new CrlFault(
      own.length > 0
        ? 'it is not at an http or https address'
        : 'the certificate names none that is complete and of its own authority',
    )
    for (const uri of own.filter(isWebAddress).slice(0, PLACES_MAX)) {
      try {
        const { revoked, covers } = await listAt(uri, authority, own, timeUp)
        const kind = certificate.basicConstraints?.ca ? 'authorities' : 'others'
        if (covers === 'all' || covers === kind) return revoked.has(certificate.serialNumber)
        throw new CrlFault('it does not cover this certificate')
      } catch (error) {
        if (!(error instanceof CrlFault)) throw error
        fault = error
      }
    }
    throw fault
  }

  async function checkPath(
    findings: Findings,
    path: readonly Certificate[],
    policy: CrlPolicy,
    { revoked, unread }: Signer,
    timeUp: Promise<never>,
  ): Promise<void> {
    const looks = path.slice(0, -1).map(async (certificate, index) => {
      if (certificate.crlUris === undefined) return false
      try {
        return await isRevoked(certificate, path[index + 1]!, timeUp)
      } catch (error) {
        if (error instanceof CrlFault) return error
        throw error
      }
    })
    const found = await Promise.all(looks)
    // One that is revoked is refused as such, also beside a list that cannot be read.
    if (found.includes(true)) return findings.fail(revoked.check, revoked.failure, revoked.words)
    for (const fault of found) {
      if (!(fault instanceof CrlFault)) continue
      const detail = `${unread.words}: ${fault.message}.`
      if (policy !== 'warn')
        return findings.fail(unread.check, unread.failure, `${detail} The certificate may be revoked. Try again later.`)
      findings.warn(unread.check, detail)
    }
  }

  return {
    async check(findings, path, policy, signer = 'issuer') {
      // Most certificates name no list: then there is nothing to wait for.
      if (policy === 'off' || path.slice(0, -1).every(({ crlUris }) => crlUris === undefined)) return
      const { promise: timeUp, reject } = Promise.withResolvers<never>()
      // Nobody awaits this promise if every list is cached.
      timeUp.catch(() => {})
      const timer = setTimeout(() => reject(new CrlFault('it took too long to answer')), waitMs ?? SIGNERS[signer].waitMs)
      await checkPath(findings, path, policy, SIGNERS[signer], timeUp).finally(() => clearTimeout(timer))
    },
    known: () => [...new Set([...kept.keys(), ...faults.keys()].map(key => JSON.parse(key)[0]))],
  }
}
