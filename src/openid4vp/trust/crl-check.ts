// Checks whether an authority revoked a certificate between a signer and the trusted anchor. Lists are kept until they expire
// or are a day old. If a refresh fails, the old list is used until it expires.

import type { Check, Failure, Findings } from '../finding.ts'
import { CertificateDigests } from '../x509/certificate-digest.ts'
import { CRL_BYTES_MAX, type Crl, CrlFault, readCrl } from '../x509/crl.ts'
import type { Certificate } from '../x509/x509.ts'
import { type Found, type ListBytes, ListCache, type Shelf, TTL_MS_MAX } from './list-cache.ts'

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
  check(findings: Findings, path: readonly Certificate[], policy: CrlPolicy, options?: CheckOptions): Promise<void>
  /** Addresses of the lists that were used lately. */
  known(): string[]
}

/** `session` tells one from another. */
type CheckOptions = { signer?: keyof typeof SIGNERS; session?: string }

const LISTS_MAX = 100
/** Addresses of its list that are tried for one certificate. */
const PLACES_MAX = 3
const LISTS_BYTES_MAX = 32 * 1024 * 1024
/** Approximate memory of one entry. */
const ENTRY_BYTES = 100

/** RFC 5280 § 6.3.3 (b) (2) (i). A list for other places is a part for other certificates, served at the wrong address. */
function madeFor(own: readonly string[], crl: Crl): Crl {
  if (crl.places && !crl.places.some(place => own.includes(place))) throw new CrlFault('it is made for another address')
  return crl
}

type Read = Omit<Found<Crl>, 'fault'>
type Waiting = { timeUp: Promise<never>; session: string | undefined }

const isWebAddress = (uri: string): boolean => /^https?:\/\//i.test(uri)

/** `own`: the places that the certificate names for its list. */
export function readCrlFor(own: readonly string[], bytes: Uint8Array, authority: Certificate, now: number): Crl {
  if (bytes.length > CRL_BYTES_MAX) throw new CrlFault('it is too large')
  return madeFor(own, readCrl(bytes, authority, now))
}

/** As it was fetched. */
export const crlOf = (uri: string, bytes: Uint8Array, { thisUpdate, nextUpdate }: Crl, fetchedAt: number): ListBytes => ({
  ...{ uri, media: 'crl', bytes, fetchedAt, from: 'fetched' },
  ...{ issuedAt: thisUpdate, endsAt: nextUpdate, ttlMs: TTL_MS_MAX },
})

type CrlOptions = { waitMs?: number; shelf?: Shelf }

export function createCrlChecker(fetchCrl: FetchCrl, now: () => number, { waitMs, shelf }: CrlOptions = {}): CrlChecker {
  const lists = new ListCache<Crl>({
    now,
    countMax: LISTS_MAX,
    weightMax: LISTS_BYTES_MAX,
    weigh: ({ revoked }) => revoked.size * ENTRY_BYTES,
    isFault: error => error instanceof CrlFault,
    faultOf: reason => new CrlFault(reason),
  })
  const digests = new CertificateDigests()

  /** A list is kept for certificates that name the same places. */
  async function listAt(uri: string, authority: Certificate, own: readonly string[], timeUp: Promise<never>): Promise<Read> {
    const key = JSON.stringify([uri, digests.of(authority.der), own])
    const found = lists.get(key, {
      async stored() {
        const list = await shelf?.find(uri, ['crl'])
        try {
          return list && { list, parsed: readCrlFor(own, list.bytes, authority, now()) }
        } catch {
          // One that has expired, or is for another place or authority, is as good as none.
          return undefined
        }
      },
      async fetch() {
        const answer = await fetchCrl(uri)
        if (!answer.ok) throw new CrlFault(answer.reason)
        // Read before it is kept: it would be in the place of the right one.
        const parsed = readCrlFor(own, answer.body, authority, now())
        return { list: crlOf(uri, answer.body, parsed, now()), parsed }
      },
    })
    try {
      // A list that arrives too late for this answer is kept for the next one.
      return await Promise.race([found, timeUp])
    } catch (error) {
      const usable = lists.usable(key)
      if (usable) return usable
      throw error
    }
  }

  /** The first address with a list that covers the certificate decides. */
  async function isRevoked(certificate: Certificate, authority: Certificate, { timeUp, session }: Waiting): Promise<boolean> {
    const own = certificate.crlUris ?? []
    let fault = new CrlFault(
      own.length > 0
        ? 'it is not at an http or https address'
        : 'the certificate names none that is complete and of its own authority',
    )
    for (const uri of own.filter(isWebAddress).slice(0, PLACES_MAX)) {
      try {
        const { list, parsed } = await listAt(uri, authority, own, timeUp)
        if (session !== undefined) await shelf?.use(list, session)
        const { revoked, covers } = parsed
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
    waiting: Waiting,
  ): Promise<void> {
    const looks = path.slice(0, -1).map(async (certificate, index) => {
      if (certificate.crlUris === undefined) return false
      try {
        return await isRevoked(certificate, path[index + 1]!, waiting)
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
    async check(findings, path, policy, { signer = 'issuer', session } = {}) {
      // Most certificates name no list: then there is nothing to wait for.
      if (policy === 'off' || path.slice(0, -1).every(({ crlUris }) => crlUris === undefined)) return
      const { promise: timeUp, reject } = Promise.withResolvers<never>()
      // Nobody awaits this promise if every list is cached.
      timeUp.catch(() => {})
      const timer = setTimeout(() => reject(new CrlFault('it took too long to answer')), waitMs ?? SIGNERS[signer].waitMs)
      await checkPath(findings, path, policy, SIGNERS[signer], { timeUp, session }).finally(() => clearTimeout(timer))
    },
    known: () => [...new Set(lists.keys().map(key => JSON.parse(key)[0]))],
  }
}
