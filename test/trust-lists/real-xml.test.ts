// Public ETSI lists as their operators signed them.
import { describe, expect, test } from 'bun:test'
import { XmlC14NMode, XmlDocument } from 'libxml2-wasm'
import { sha256Hex } from '../../src/base/hash.ts'
import { readEtsiXml } from '../../src/trust-lists/etsi-xml.ts'
import type { TrustList } from '../../src/trust-lists/list.ts'
import { readXml } from '../../src/trust-lists/xml.ts'
import { canonicalXml } from '../../src/trust-lists/xml-canonical.ts'
import { FRESH_SEED } from '../helpers/fresh-seed.ts'
import { seeded } from '../helpers/seeded.ts'
import { withVector } from '../helpers/vectors.ts'
import { withChanges } from './random-xml.ts'
import { signedForm } from './signed-form.ts'

const CHANGED_MAX = 700

describe('EU age list, acceptance, number 17', () => {
  withVector('trust-lists/eu-age-acceptance-17.xml', bytes => {
    test('is read, and its signer is none of the seven that it announces', () => {
      const { chain, announced, entries, skipped, ...list } = accepted(bytes)
      expect(list).toMatchObject({
        type: 'trust.tech.ec.europa.eu/lists/age-verification/tsl-type',
        territory: 'EU',
        sequence: 17,
        issuedAt: Date.parse('2026-06-24T12:00:00Z'),
        nextUpdate: Date.parse('2026-12-16T13:30:00Z'),
      })
      const [signer] = chain.map(sha256Hex)
      expect(signer).toBe('0ccf87a5abf4db89bde4e10202e2523296bea7d835ba6a5a41054b9e1e6b8949')
      expect(announced).toHaveLength(7)
      expect(announced).not.toContain(signer)
      expect(skipped).toEqual({})
      expect(entries).toHaveLength(12)
      expect(new Set(entries.map(({ entity }) => entity)).size).toBe(7)
      expect(entries.filter(({ serviceStatus }) => serviceStatus?.endsWith('/deprecated'))).toHaveLength(1)
      expect(entries[0]).toMatchObject({ entity: 'Office of the Government Chief Information Officer', country: 'IE' })
    })

    test('has the canonical form that libxml2 makes of it', () => expectTheirForm(bytes))

    test('is refused, or signed in the same form, with some bytes changed', () => expectNoChangeTaken(bytes))
  })
})

describe('EU age list, sample of 2025', () => {
  withVector('trust-lists/eu-age-sample-2025-broken.xml', bytes => {
    test('is refused: it is signed with an XPath filter', () => {
      expect(readEtsiXml(bytes)).toMatchObject({ ok: false, code: 'algorithm_refused' })
    })

    test('does not hold without the filter either', () => {
      const filter = /<ds:Transform Algorithm="[^"]*filter2">.*?<\/ds:Transform>/
      const enveloped = '<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>'
      const plain = Buffer.from(Buffer.from(bytes).toString().replace(filter, enveloped))
      expect(readEtsiXml(plain)).toMatchObject({ ok: false, code: 'signature_invalid' })
    })
  })
})

describe('EU list of trusted lists, number 388', () => {
  withVector('trust-lists/eu-lotl-388.xml', bytes => {
    test('is read, announces its signer, and has no entries', () => {
      const { chain, announced, entries, sequence, type } = accepted(bytes)
      expect([sequence, type, entries]).toEqual([388, 'uri.etsi.org/TrstSvc/TrustedList/TSLType/EUlistofthelists', []])
      expect(announced).toHaveLength(6)
      expect(announced).toContain(sha256Hex(chain[0]!))
    })

    test('has the canonical form that libxml2 makes of it', () => expectTheirForm(bytes))

    test('is refused, or signed in the same form, with some bytes changed', () => expectNoChangeTaken(bytes))
  })
})

function accepted(bytes: Uint8Array): TrustList {
  const read = readEtsiXml(bytes)
  if (!read.ok) throw new Error(`${read.code}: ${read.detail}`)
  return read.list
}

function expectTheirForm(bytes: Uint8Array): void {
  const document = XmlDocument.fromBuffer(bytes)
  const theirs = document.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 })
  document.dispose()
  expect(canonicalXml(readXml(bytes)) === theirs).toBe(true)
}

/** As often as a hundredth of its bytes. */
function expectNoChangeTaken(bytes: Uint8Array): void {
  const random = seeded(FRESH_SEED)
  const [list, form] = [accepted(bytes), signedForm(bytes)]
  for (let left = Math.min(CHANGED_MAX, bytes.length / 100); left > 0; left--) {
    const changed = withChanges(Buffer.from(bytes), random)
    const read = readEtsiXml(changed)
    if (!read.ok) continue
    expect(read.list).toEqual(list)
    expect(signedForm(changed) === form).toBe(true)
  }
}
