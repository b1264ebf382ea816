// What is taken from a list whose signature holds, and what is not.
import { describe, expect, test } from 'bun:test'
import { sha256Hex } from '../../src/base/hash.ts'
import { readEtsiXml } from '../../src/trust-lists/etsi-xml.ts'
import type { RefusalCode, TrustList } from '../../src/trust-lists/list.ts'
import { issue, issueAuthority, NOW } from '../helpers/certificates.ts'
import { AGE_LIST_TYPE, AGE_SERVICE, type EtsiList, makeEtsiList, RECOGNIZED } from './make-xml.ts'

const signer = await issue({ name: 'CN=Signer' })
const issuer = await issueAuthority({ name: 'CN=Issuer' })
const other = await issueAuthority({ name: 'CN=Other Issuer' })

function readMade(list: EtsiList, change?: (xml: string) => string): TrustList {
  const read = readEtsiXml(makeEtsiList(list, signer, { list: change }))
  if (!read.ok) throw new Error(`${read.code}: ${read.detail}`)
  return read.list
}

/** Changed before it is signed. */
function refusalOf(list: EtsiList, from: string | RegExp = '', to = ''): { code: RefusalCode; detail: string } {
  const read = readEtsiXml(makeEtsiList(list, signer, { list: xml => replaced(xml, from, to) }))
  if (read.ok) throw new Error('it was read')
  return read
}

function replaced(xml: string, from: string | RegExp, to: string): string {
  if (from && xml.replace(from, to) === xml) throw new Error(`${from} is not in the list`)
  return xml.replace(from, to)
}

describe('a signed list is refused', () => {
  test.each<[string, EtsiList, string | RegExp, string, RefusalCode, string]>([
    ['that is closed', { nextUpdate: null }, '', '', 'closed', 'closed'],
    ['without a next update', {}, /<NextUpdate>.*<\/NextUpdate>/, '', 'closed', 'closed'],
    ['with two next updates', {}, /<NextUpdate>.*<\/NextUpdate>/, '$&$&', 'malformed', 'two dates'],
    ['of version 4', { version: 4 }, '', '', 'malformed', 'version'],
    [
      'without a version',
      {},
      /<TSLVersionIdentifier>.*?>/,
      '',
      'malformed',
      'no TSLVersionIdentifier is in its SchemeInformation',
    ],
    ['whose number is not whole', { sequence: 1.5 }, '', '', 'malformed', 'sequence number'],
    ['with two numbers', {}, /<TSLSequenceNumber>.*?r>/, '$&$&', 'malformed', 'more than one TSLSequenceNumber'],
    ['without a type', { type: '' }, '', '', 'malformed', 'its TSLType is empty'],
    ['with elements inside its type', {}, /<TSLType>/, '$&<a/>', 'malformed', 'its TSLType is empty'],
    ['dated on 30 February', {}, /<ListIssueDateTime>.*?</, '<ListIssueDateTime>2026-02-30T00:00:00Z<', 'malformed', 'dates'],
    [
      'with two descriptions of itself',
      {},
      /<SchemeInformation>.*<\/SchemeInformation>/s,
      '$&$&',
      'malformed',
      'more than one SchemeInformation',
    ],
    [
      'in another namespace',
      {},
      'xmlns="http://uri.etsi.org/02231/v2#"',
      'xmlns="http://uri.etsi.org/02231/v3#"',
      'malformed',
      'its root',
    ],
    ['of another kind', {}, /TrustServiceStatusList/g, 'ListOfTrustedEntities', 'malformed', 'its root is not a trusted list'],
  ])('%s', (_, list, from, to, code, detail) => {
    expect(refusalOf(list, from, to)).toMatchObject({ code, detail: expect.stringContaining(detail) })
  })

  test('with 2,001 certificates, but not with 2,000', () => {
    const services = (count: number) => Array.from({ length: count }, () => ({ certificate: issuer.der }))
    expect(readMade({ providers: [{ services: services(1000) }, { services: services(1000) }] }).entries).toHaveLength(2000)
    expect(refusalOf({ providers: [{ services: services(1001) }, { services: services(1000) }] }).code).toBe('too_many')
  })
})

describe('entries', () => {
  test('that cannot count are left out and counted', () => {
    const services = [
      { certificate: issuer.der },
      {},
      { certificate: new Uint8Array(8193) },
      { certificate: Buffer.concat([issuer.der, Buffer.of(0)]) },
      { certificate: [other.der, Buffer.from('no certificate')] },
    ]
    const { entries, skipped } = readMade({ providers: [{ services }] })
    expect(entries.map(({ certificate }) => sha256Hex(certificate))).toEqual([issuer, other].map(({ der }) => sha256Hex(der)))
    expect(skipped).toEqual({ no_certificate: 1, too_large: 1, unreadable: 2 })
  })

  test('whose base64 is not base64 are left out, and white space in it is none of it', () => {
    const base64 = Buffer.from(issuer.der).toString('base64')
    const list = { providers: [{ services: [{ certificate: issuer.der }] }] }
    expect(readMade(list, xml => xml.replace(base64, `\n ${base64.slice(0, 9)}\r\n${base64.slice(9)}\t`)).entries).toHaveLength(1)
    expect(readMade(list, xml => xml.replace(base64, `*${base64}`)).skipped).toEqual({ unreadable: 1 })
    expect(readMade(list, xml => xml.replace(base64, '')).skipped).toEqual({ unreadable: 1 })
  })

  test('of the past are not read', () => {
    const past = [{ certificate: other.der }]
    const { entries } = readMade({ providers: [{ services: [{ certificate: issuer.der, history: past }] }] })
    expect(entries.map(({ certificate }) => sha256Hex(certificate))).toEqual([sha256Hex(issuer.der)])
  })

  test('with two statuses have none that is in force, and one without a status has none', () => {
    const list = { providers: [{ services: [{ certificate: issuer.der }] }] }
    const status = (change: string) =>
      readMade(list, xml => xml.replace(/<ServiceStatus>.*<\/ServiceStatus>/, change)).entries[0]?.serviceStatus
    expect([status('$&'), status('$&$&'), status('<ServiceStatus/>'), status('')]).toEqual([RECOGNIZED, '', '', null])
  })

  test('of a national list are of its country, else of the country in their address', () => {
    const providers = [{ country: 'NL', services: [{ certificate: issuer.der }] }]
    const country = (list: EtsiList) => readMade({ providers, ...list }).entries[0]?.country
    expect([country({ territory: 'ES' }), country({ territory: 'EU' })]).toEqual(['ES', 'NL'])
    expect(country({ providers: [{ ...providers[0], country: 'the Netherlands' }] })).toBeNull()
  })

  test('have the English name of their provider, short and without control characters', () => {
    const list = { providers: [{ name: `${'n'.repeat(300)}`, services: [{ certificate: issuer.der }] }] }
    const names = '<Name xml:lang="nl">Dienst</Name>'
    expect(readMade(list).entries[0]?.entity).toBe('n'.repeat(200))
    expect(readMade(list, xml => xml.replace('<TSPName>', `$&${names}`)).entries[0]?.entity).toBe('n'.repeat(200))
    expect(readMade(list, xml => xml.replace(/n{300}/, 'a\u202Eb\nc')).entries[0]?.entity).toBe('ab c')
    expect(readMade(list, xml => xml.replace(/<TSPName>.*<\/TSPName>/, '')).entries[0]).toMatchObject({
      entity: null,
      country: 'NL',
    })
  })

  test('have the type of their service as it is written', () => {
    const services = [{ certificate: issuer.der, type: 'https://example.org/a?b&c', since: NOW }]
    expect(readMade({ providers: [{ services }] }).entries[0]).toMatchObject({
      serviceType: 'https://example.org/a?b&c',
      since: NOW,
    })
    expect(readMade({ providers: [{ services: [{ certificate: issuer.der }] }] }).entries[0]?.serviceType).toBe(AGE_SERVICE)
  })
})

describe('the signers that a list announces', () => {
  const fingerprints = [sha256Hex(issuer.der)]
  test('are those of the pointer to itself, with http or https', () => {
    const https = AGE_LIST_TYPE.replace('http:', 'https:')
    expect(readMade({ pointers: [{ certificates: [issuer.der] }] }).announced).toEqual(fingerprints)
    expect(readMade({ pointers: [{ type: https, certificates: [issuer.der] }] }).announced).toEqual(fingerprints)
  })

  test('are not those of other lists', () => {
    const pointers = [
      { certificates: [issuer.der], territory: 'ES' },
      { certificates: [issuer.der], type: 'http://uri.etsi.org/TrstSvc/TrustedList/TSLType/EUgeneric' },
    ]
    expect(readMade({ pointers }).announced).toEqual([])
  })

  test('are at most 64', () => {
    const certificates = Array.from({ length: 70 }, (_, i) => Uint8Array.of(i))
    expect(readMade({ pointers: [{ certificates }] }).announced).toHaveLength(64)
  })
})

test('a list without providers is read: whether it may be empty is decided elsewhere', () => {
  expect(readMade({}, xml => xml.replace(/<TrustServiceProviderList>[\s\S]*<\/TrustServiceProviderList>/, '')).entries).toEqual(
    [],
  )
})

test('a date may have the offset of UTC, and no other', () => {
  const dated = (offset: string) =>
    readEtsiXml(makeEtsiList({}, signer, { list: xml => replaced(xml, /(<ListIssueDateTime>.*?)Z</, `$1${offset}<`) }))
  expect(dated('+00:00')).toMatchObject({ ok: true, list: { issuedAt: readMade({}).issuedAt } })
  expect(dated('+02:00')).toMatchObject({ code: 'malformed', detail: 'one of its dates is not a UTC time' })
})

test('a list is the same one with http and with https', () => {
  const { identity } = readMade({})
  expect(readMade({ type: AGE_LIST_TYPE.replace('http:', 'https:') }).identity).toBe(identity)
  expect(readMade({ territory: 'ES' }).identity).not.toBe(identity)
})
