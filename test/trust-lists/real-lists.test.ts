// Public lists as their operators signed them, at the time of their issue.
import { describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { rootViolations } from '../../src/openid4vp/trust/iso-profile.ts'
import { describeCertificate } from '../../src/openid4vp/x509/x509.ts'
import { grantsOf } from '../../src/trust-lists/grants.ts'
import type { ListKind, TrustList } from '../../src/trust-lists/list.ts'
import { readList } from '../../src/trust-lists/read-list.ts'
import { judgeSigner } from '../../src/trust-lists/signer.ts'
import { pemOf } from '../helpers/certificates.ts'
import { seeded } from '../helpers/seeded.ts'
import { withVector } from '../helpers/vectors.ts'
import { MDL } from './make.ts'
import { accepted, expectRefused } from './outcome.ts'

const RULES = { types: null, serviceType: null, mode: null, use: 'issuers' } as const
const AAMVA_ROOT = '3b545614be42ef018b1c1050ebce9b96fa33ecec0c7115b8e70664c6454c5104'

const described = ({ entries }: TrustList) => entries.flatMap(({ certificate }) => describeCertificate(certificate) ?? [])

/** One byte in a hundred, each changed alone. Certificates above the signer are not signed, and nothing is taken from them. */
function expectChangesRefused(kind: ListKind, bytes: Uint8Array): void {
  const { chain, ...signed } = accepted(readList(kind, bytes))
  const random = seeded(20261116)
  for (let round = 0; round < bytes.length / 100; round++) {
    const changed = new Uint8Array(bytes)
    changed[random.below(bytes.length)]! ^= 1 << random.below(8)
    const read = readList(kind, changed)
    if (!read.ok) continue
    const { chain: otherChain, ...others } = read.list
    expect(others).toEqual(signed)
    const pin = { fingerprint: new Bun.CryptoHasher('sha256').update(chain[0]!).digest('hex'), certificate: null }
    const isPinned = judgeSigner(read.list, [pin], signed.issuedAt).ok
    expect(isPinned).toBe(Buffer.compare(otherChain[0]!, chain[0]!) === 0)
  }
}

describe('AAMVA, August 2025', () => {
  withVector('trust-lists/aamva-2025-08-05.vical', bytes => {
    const list = accepted(readList('vical', bytes))

    test('names 13 roots for mDLs, and all of them meet the ISO profile', () => {
      const { grants, skipped } = grantsOf(list, RULES, list.issuedAt)
      expect([list.name, list.sequence, grants.length, skipped]).toEqual(['AAMVA', 89782, 13, {}])
      expect(grants.every(({ trustedFor, mode, use }) => trustedFor === MDL && mode === 'iso' && use === 'both')).toBe(true)
      expect(described(list).filter(root => rootViolations(root).length === 0)).toHaveLength(13)
    })

    test('is accepted by its root at its own date, and its signer has ended since', () => {
      const pins = [{ fingerprint: AAMVA_ROOT, certificate: null }]
      expect(judgeSigner(list, pins, list.issuedAt).ok).toBe(true)
      expectRefused(judgeSigner(list, pins, Date.parse('2026-11-16T00:00:00Z')), 'signer_expired')
      expectRefused(judgeSigner({ ...list, kind: 'lote' }, pins, list.issuedAt), 'signer_unknown')
    })

    test('is refused, or says the same, with any byte changed', () => expectChangesRefused('vical', bytes))
  })
})

describe('Austroads, December 2024', () => {
  withVector('trust-lists/austroads-2024-12-17.vical', bytes => {
    const list = accepted(readList('vical', bytes))

    test('names 39 roots of which 34 meet the ISO profile, and one that is unreadable', () => {
      expect([list.entries.length, list.skipped, list.nextUpdate]).toEqual([39, { unreadable: 1 }, null])
      expect(described(list).filter(root => rootViolations(root).length === 0)).toHaveLength(34)
    })

    withVector('trust-lists/austroads_root.pem', root => {
      test('is accepted by its root, which it does not send', () => {
        const { raw } = new X509Certificate(root)
        const fingerprint = new Bun.CryptoHasher('sha256').update(raw).digest('hex')
        expect(judgeSigner(list, [{ fingerprint, certificate: pemOf(raw) }], list.issuedAt).ok).toBe(true)
        expectRefused(judgeSigner(list, [{ fingerprint, certificate: null }], list.issuedAt), 'signer_unknown')
      })
    })

    test('is refused, or says the same, with any byte changed', () => expectChangesRefused('vical', bytes))
  })
})

describe('wallet providers of Thailand, September 2026', () => {
  withVector('trust-lists/th-wallet-providers.jwt', bytes => {
    const list = accepted(readList('lote', bytes))

    test('holds, and grants nothing', () => {
      expect([list.territory, list.sequence, list.entries]).toEqual(['TH', 1, []])
      const rules = {
        ...RULES,
        types: ['urn:eudi:pid:1'],
        serviceType: 'http://uri.etsi.org/19602/SvcType/WalletSolution/Issuance',
      }
      for (const each of [RULES, rules]) expect(grantsOf(list, each, list.issuedAt)).toEqual({ grants: [], skipped: {} })
    })

    test('is refused, or says the same, with any byte changed', () => expectChangesRefused('lote', bytes))
  })
})
