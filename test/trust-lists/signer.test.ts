import { describe, expect, test } from 'bun:test'
import { judgeSigner, refuseCaPin, signerOf } from '../../src/trust-lists/signer.ts'
import {
  DAY_MS,
  isAuthority,
  issue,
  issueAuthority,
  NOW,
  pemOf,
  purposes,
  signsCertificates,
  Usage,
  usages,
} from '../helpers/certificates.ts'
import { fingerprintOf, makeSigner, VICAL_SIGNER, type WantedSigner } from './make.ts'
import { expectRefused } from './outcome.ts'

const root = await issueAuthority({ name: 'C=US, CN=List Root' })
const intermediate = await issueAuthority({ name: 'C=US, CN=List CA', issuer: root })
const own = await makeSigner()
const below = await makeSigner({ issuer: intermediate, above: [intermediate, root] })
const alone = await makeSigner({ issuer: root })

const pinOf = (der: Uint8Array) => ({ fingerprint: fingerprintOf(der), certificate: null })
const pemPinOf = (der: Uint8Array) => ({ fingerprint: fingerprintOf(der), certificate: pemOf(der) })

describe('the signer of a list', () => {
  test.each(['vical', 'lote', 'etsi-xml'] as const)('of kind %s is the one that is pinned', kind => {
    const list = { kind, chain: own.chain }
    expect(judgeSigner(list, [pinOf(root.der), pinOf(own.der)], NOW)).toEqual({ ok: true, signer: own.fingerprint })
    expectRefused(judgeSigner(list, [], NOW), 'signer_unknown', own.fingerprint)
    expectRefused(judgeSigner(list, [pinOf(root.der)], NOW), 'signer_unknown', own.fingerprint)
  })

  test.each(['lote', 'etsi-xml'] as const)('of kind %s is not vouched for by its CA', kind => {
    for (const pin of [pinOf(root.der), pemPinOf(root.der), pinOf(intermediate.der)]) {
      expectRefused(judgeSigner({ kind, chain: below.chain }, [pin], NOW), 'signer_unknown')
    }
  })

  test('of a VICAL may be pinned by a CA in its chain, or by one given as PEM', () => {
    const list = { kind: 'vical', chain: below.chain } as const
    for (const pin of [pinOf(root.der), pinOf(intermediate.der), pemPinOf(root.der)]) {
      expect(judgeSigner(list, [pin], NOW)).toEqual({ ok: true, signer: below.fingerprint })
    }
    const short = { kind: 'vical', chain: alone.chain } as const
    expect(judgeSigner(short, [pemPinOf(root.der)], NOW)).toEqual({ ok: true, signer: alone.fingerprint })
    expectRefused(judgeSigner(short, [pinOf(root.der)], NOW), 'signer_unknown')
  })

  test('of a VICAL below a pinned CA has exactly the purpose of a list signer', async () => {
    const judged = async (wanted: WantedSigner) => {
      const signer = await makeSigner({ issuer: root, ...wanted })
      return judgeSigner({ kind: 'vical', chain: signer.chain }, [pemPinOf(root.der)], NOW)
    }
    expectRefused(await judged({ extensions: [usages(Usage.digitalSignature)] }), 'signer_unknown')
    expectRefused(await judged({ purposes: ['1.0.18013.5.1.2'] }), 'signer_unknown')
    expectRefused(await judged({ purposes: [VICAL_SIGNER, '1.0.18013.5.1.2'] }), 'signer_unknown')
    expect((await judged({ purposes: [VICAL_SIGNER] })).ok).toBe(true)
  })

  test('of a VICAL below a certificate that is no CA, or one limited to other purposes, is unknown', async () => {
    const noCa = await issue({ name: 'C=US, CN=No CA', issuer: root, extensions: [usages(Usage.digitalSignature)] })
    const tls = await issueAuthority({
      name: 'C=US, CN=TLS CA',
      issuer: root,
      extensions: [isAuthority(), signsCertificates(), purposes(['1.3.6.1.5.5.7.3.1'])],
    })
    for (const above of [noCa, tls]) {
      const signer = await makeSigner({ issuer: above, above: [above] })
      expectRefused(judgeSigner({ kind: 'vical', chain: signer.chain }, [pemPinOf(root.der)], NOW), 'signer_unknown')
    }
  })

  test('of a VICAL is not vouched for by a CA that only has the name of the pinned one', async () => {
    const forged = await issueAuthority({ name: 'C=US, CN=List Root' })
    const signer = await makeSigner({ issuer: forged, above: [forged] })
    expectRefused(judgeSigner({ kind: 'vical', chain: signer.chain }, [pemPinOf(root.der)], NOW), 'signer_unknown')
  })

  test('is refused with its own dates when its certificate has ended or has not begun', async () => {
    const signer = await makeSigner({ notBefore: NOW - 10 * DAY_MS, notAfter: NOW })
    const at = (now: number) => judgeSigner({ kind: 'lote', chain: signer.chain }, [pinOf(signer.der)], now)
    expect(at(NOW).ok).toBe(true)
    expectRefused(at(NOW + DAY_MS), 'signer_expired', 'expired on 2026-11-15')
    expectRefused(at(NOW - 11 * DAY_MS), 'signer_expired', 'not valid before 2026-11-05')
  })

  test('is refused when a CA between it and the pin has ended', async () => {
    const ended = await issueAuthority({ name: 'C=US, CN=Ended CA', issuer: root, notAfter: NOW - DAY_MS })
    const signer = await makeSigner({ issuer: ended, above: [ended] })
    expectRefused(judgeSigner({ kind: 'vical', chain: signer.chain }, [pemPinOf(root.der)], NOW), 'signer_expired', 'whose CA')
  })

  test('is shown with its fingerprint, its name and its dates', () => {
    expect(signerOf({ chain: own.chain })).toEqual({
      fingerprint: own.fingerprint,
      subject: 'C=EU, O=Test Operator, CN=Test List Signer',
      notBefore: NOW - 30 * DAY_MS,
      notAfter: NOW + 300 * DAY_MS,
    })
  })

  test('cannot be pinned as a CA except for a VICAL', () => {
    expect(refuseCaPin('lote', pemOf(root.der))).toContain('is a CA')
    expect(refuseCaPin('etsi-xml', pemOf(root.der))).toContain('is a CA')
    expect(refuseCaPin('vical', pemOf(root.der))).toBeUndefined()
    expect(refuseCaPin('lote', own.pem)).toBeUndefined()
  })

  test('cannot be pinned from a file that holds no certificate', () => {
    for (const kind of ['vical', 'lote'] as const) expect(refuseCaPin(kind, 'nothing')).toContain('no readable certificate')
  })
})
