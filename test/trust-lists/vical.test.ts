import { describe, expect, test } from 'bun:test'
import type { RefusalCode } from '../../src/trust-lists/list.ts'
import { readVical } from '../../src/trust-lists/vical.ts'
import { DAY_MS, NOW } from '../helpers/certificates.ts'
import { cbor, Tagged } from '../helpers/mdoc.ts'
import { MDL, makeIssuer, makeSigner, makeVical, type VicalSpoilt, type WantedVical } from './make.ts'
import { accepted, expectRefused } from './outcome.ts'

const signer = await makeSigner()
const [p384, p521, edwards, rsa] = await Promise.all(
  (['P-384', 'P-521', 'Ed25519', 'RSA'] as const).map(kind => makeSigner({ kind })),
)
const issuer = await makeIssuer()
const entries = [{ certificate: issuer.der }]

const list = (wanted: WantedVical = {}, spoilt: VicalSpoilt = {}, by = signer) =>
  readVical(makeVical({ entries, ...wanted }, by, spoilt))

describe('a VICAL', () => {
  test('is read with its provider, its dates, its signer and its entries', () => {
    const docTypes = [MDL, 'org.iso.23220.photoID.1']
    const read = accepted(list({ issueId: 27, entries: [{ certificate: issuer.der, docTypes, authority: 'DMV of Utopia' }] }))
    expect(read).toEqual({
      kind: 'vical',
      type: null,
      territory: null,
      name: 'Test Provider',
      identity: 'Test Provider',
      sequence: 27,
      issuedAt: NOW - DAY_MS,
      nextUpdate: NOW + 30 * DAY_MS,
      chain: [signer.der],
      announced: [],
      entries: [
        {
          certificate: issuer.der,
          entity: 'DMV of Utopia',
          country: 'UT',
          serviceType: null,
          serviceStatus: null,
          since: null,
          docTypes,
        },
      ],
      skipped: {},
    })
  })

  test.each([
    ['tagged', {}, { isTagged: true }],
    ['with its certificate in the protected header', {}, { protectedHeader: [[33, signer.der]], unprotectedHeader: [] }],
    ['without a next update', { nextUpdate: null }, {}],
    ['with the offset of UTC in its date', { members: { date: new Tagged(0, '2026-11-14T00:00:00+00:00') } }, {}],
    ['with unknown members', { members: { Extensions: { a: 1 }, CertificateProfile: 'x' } }, {}],
    ['with version 1.1', { members: { version: '1.1' } }, {}],
    ['with an issue id that is no number', { members: { vicalIssueID: 'x' } }, {}],
    ['without entries', { entries: [] }, {}],
  ] as [string, WantedVical, VicalSpoilt][])('%s is accepted', (_, wanted, spoilt) => {
    expect(list(wanted, spoilt).ok).toBe(true)
  })

  test.each([
    ['P-256', signer],
    ['P-384', p384],
    ['P-521', p521],
    ['Ed25519', edwards],
  ] as const)('signed with %s is accepted', (_, by) => {
    expect(list({}, {}, by).ok).toBe(true)
  })

  test.each([
    ['one bit of the signature changed', {}, { signature: flipped }, 'signature_invalid'],
    ['one byte of the payload changed', {}, { payload: flipped }, 'signature_invalid'],
    ['the certificate of somebody else', {}, { chain: [issuer.der] }, 'signature_invalid'],
    ['ES384 with a P-256 key', {}, { alg: -35 }, 'algorithm_refused'],
    ['an HMAC', {}, { alg: 5 }, 'algorithm_refused'],
    ['an empty signature', {}, { signature: () => new Uint8Array() }, 'unsigned'],
    ['a detached payload', {}, { isDetached: true }, 'malformed'],
    ['a critical header', {}, { protectedHeader: [[2, [99]]] }, 'malformed'],
    ['a header in two places', {}, { protectedHeader: [[33, signer.der]] }, 'malformed'],
    ['no certificate', {}, { chain: [] }, 'malformed'],
    ['six certificates', {}, { chain: Array(6).fill(signer.der) }, 'malformed'],
    ['version 2.0', { members: { version: '2.0' } }, {}, 'malformed'],
    ['no provider', { members: { vicalProvider: undefined } }, {}, 'malformed'],
    ['no date', { members: { date: undefined } }, {}, 'malformed'],
    ['a date without its tag', { members: { date: '2026-11-14T00:00:00Z' } }, {}, 'malformed'],
    ['a date that is none', { members: { date: new Tagged(0, 'yesterday') } }, {}, 'malformed'],
    ['a next update that is none', { members: { nextUpdate: 5 } }, {}, 'malformed'],
    ['no certificate infos', { members: { certificateInfos: undefined } }, {}, 'malformed'],
  ] as [string, WantedVical, VicalSpoilt, RefusalCode][])('with %s is refused', (_, wanted, spoilt, code) => {
    expectRefused(list(wanted, spoilt), code)
  })

  test('signed with RSA is refused', () => {
    expectRefused(list({}, {}, rsa), 'algorithm_refused')
  })

  test('of other CBOR is refused as malformed', () => {
    for (const value of [{}, [], 'text', [new Uint8Array(), {}, null]]) expectRefused(readVical(cbor(value)), 'malformed')
  })

  test('skips and counts entries that are unreadable or too large', () => {
    const certificate = issuer.der
    const spoilt = [
      { certificate: Uint8Array.of(1, 2, 3) },
      { certificate, members: { certificate: undefined } },
      { certificate, members: { certificate: 'text' } },
      { certificate, docTypes: [] },
      { certificate, docTypes: Array(21).fill(MDL) },
      { certificate, docTypes: ['x'.repeat(101)] },
      { certificate, members: { docType: [1] } },
      { certificate: new Uint8Array(8193) },
    ]
    const read = accepted(list({ entries: [...spoilt, ...entries] }))
    expect(read.entries.map(each => each.certificate)).toEqual([certificate])
    expect(read.skipped).toEqual({ unreadable: 7, too_large: 1 })
  })

  test('with 2,000 certificates is accepted, and with 2,001 refused', () => {
    const many = (count: number) => list({ entries: Array(count).fill({ certificate: issuer.der }) })
    expect(accepted(many(2000)).entries).toHaveLength(2000)
    expectRefused(many(2001), 'too_many')
  })

  test('with 100,001 CBOR items is refused', () => {
    const withItems = (count: number) => list({ entries: [], members: { Extensions: Array(count).fill(0) } })
    expect(withItems(99_000).ok).toBe(true)
    expectRefused(withItems(100_001), 'malformed', 'too many items')
  })
})

function flipped(bytes: Uint8Array): Uint8Array {
  return Buffer.from(bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte)))
}
