import { describe, expect, test } from 'bun:test'
import { type GrantRules, grantsOf } from '../../src/trust-lists/grants.ts'
import type { Grant, ListEntry, TrustList } from '../../src/trust-lists/list.ts'
import { readLote } from '../../src/trust-lists/lote.ts'
import { readVical } from '../../src/trust-lists/vical.ts'
import { DAY_MS, NOW } from '../helpers/certificates.ts'
import {
  LOTE,
  type LoteService,
  MDL,
  makeIssuer,
  makeLote,
  makeSigner,
  makeVical,
  SERVICE,
  STATUS,
  type WantedLote,
} from './make.ts'
import { accepted } from './outcome.ts'

const PIDS = ['urn:eudi:pid:1', 'eu.europa.ec.eudi.pid.1']
const AGE = 'http://trust.tech.ec.europa.eu/lists/age-verification'

const signer = await makeSigner()
const issuer = await makeIssuer()
const other = await makeIssuer()
/** A root with a key on brainpoolP256r1, which the library of the tests cannot make. */
const BRAINPOOL = Buffer.from(
  'MIIBlzCCAT6gAwIBAgIUd48ergb6okjITvydrsdqLtvM5EgwCgYIKoZIzj0EAwIwITELMAkGA1UEBhMCVVQxEjAQBgNVBAMMCUJyYWlucG9vbDAeFw0yNjEx' +
    'MTYwODM3MDVaFw0zNjExMTMwODM3MDVaMCExCzAJBgNVBAYTAlVUMRIwEAYDVQQDDAlCcmFpbnBvb2wwWjAUBgcqhkjOPQIBBgkrJAMDAggBAQcDQgAEJfIS' +
    '6Ho/boQM10vhh/WuTC3skUDSs6wzruz2VlhKOuRvkde1z+d2CdH8kWLtzgwwu7ZLoe7Z95ebnyjmxrLpbKNTMFEwHQYDVR0OBBYEFJuqSgelY8obzCuVgmND' +
    'dldRqpOfMB8GA1UdIwQYMBaAFJuqSgelY8obzCuVgmNDdldRqpOfMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgNEyJzOM7P1+qXIgM+OCZ' +
    '2CWMeplpuZJi12sMag0tpiMCIALREtyB8B6L5BxrccdH29sNhUxq69ZkG9fjnMoHHQ97',
  'base64',
)
const RULES: GrantRules = { types: null, serviceType: null, mode: null, use: 'issuers' }

const lote = (wanted: WantedLote): TrustList => accepted(readLote(makeLote(wanted, signer)))
const vical = (docTypes: string[], certificate: Uint8Array = issuer.der): TrustList =>
  accepted(readVical(makeVical({ entries: [{ certificate, docTypes }] }, signer)))
/** One service of one entity. */
const service = (type: string, about: LoteService, wanted: WantedLote = {}): TrustList =>
  lote({ type, entities: [{ role: 'NO', services: [{ certificates: [issuer.der], ...about }] }], ...wanted })
/** As the reader of the XML form returns it. */
const ageList = (about: Partial<ListEntry>, scheme = 'https'): TrustList => ({
  ...lote({}),
  kind: 'etsi-xml',
  type: `${scheme}://trust.tech.ec.europa.eu/lists/age-verification/tsl-type`,
  entries: [
    {
      certificate: issuer.der,
      entity: 'Age Registry',
      country: 'EU',
      serviceType: `${AGE}/service-type/paa`,
      serviceStatus: `${AGE}/service-status/recognized`,
      since: NOW,
      docTypes: [],
      ...about,
    },
  ],
})

const granted = (list: TrustList, rules: Partial<GrantRules> = {}): Grant[] => grantsOf(list, { ...RULES, ...rules }, NOW).grants
const rights = (list: TrustList, rules: Partial<GrantRules> = {}): string[] =>
  granted(list, rules).map(({ trustedFor, mode, use }) => `${trustedFor} ${mode} ${use}`)
const skipped = (list: TrustList, rules: Partial<GrantRules> = {}, now = NOW) =>
  grantsOf(list, { ...RULES, ...rules }, now).skipped

describe('an entry of a VICAL', () => {
  test('grants mDLs by the ISO profile and photo IDs without it', () => {
    expect(rights(vical([MDL, 'org.iso.23220.photoID.1', 'org.iso.23220.photoid.1']))).toEqual([
      `${MDL} iso both`,
      'org.iso.23220.photoID.1 pkix both',
      'org.iso.23220.photoid.1 pkix both',
    ])
  })

  test('grants no PID unless the source allows that type', () => {
    const list = vical(['eu.europa.ec.eudi.pid.1'])
    expect(rights(list)).toEqual([])
    expect(skipped(list)).toEqual({ other_type: 1 })
    expect(rights(list, { types: ['eu.europa.ec.eudi.pid.1'] })).toEqual(['eu.europa.ec.eudi.pid.1 pkix both'])
  })

  test('grants nothing that it is not listed for', () => {
    expect(rights(vical(['org.iso.23220.photoid.1']), { types: [MDL] })).toEqual([])
  })

  test('is called by its subject, else by its authority', async () => {
    expect(granted(vical([MDL]))[0]?.label).toMatch(/^Listed Root \d+$/)
    const nameless = await makeIssuer({ name: 'C=UT' })
    expect(granted(vical([MDL], nameless.der))[0]?.label).toBe('Test Authority')
  })

  test('has the mode of the source where that has one', () => {
    expect(rights(vical([MDL]), { mode: 'pkix' })).toEqual([`${MDL} pkix both`])
  })
})

describe('an entry of the PID list', () => {
  test("grants the Union's PID types and those of its own country", () => {
    expect(rights(service(LOTE.pid, {}))).toEqual([...PIDS, 'urn:eudi:pid:no:*'].map(type => `${type} pkix both`))
  })

  test('grants no national types without a country', () => {
    const list = lote({ entities: [{ services: [{ certificates: [issuer.der] }] }] })
    expect(rights(list)).toEqual(PIDS.map(type => `${type} pkix both`))
  })

  test('grants the national types of Greece by its ISO code', () => {
    expect(rights(service(LOTE.pid, {}, { territory: 'EL' }))).toContain('urn:eudi:pid:gr:* pkix both')
  })

  test('for revocation counts for status lists only', () => {
    const list = service(LOTE.pid, { type: SERVICE.pidRevocation })
    expect(rights(list)).toEqual([...PIDS, 'urn:eudi:pid:no:*'].map(type => `${type} pkix status`))
  })

  test('for issuance and for revocation counts for both', () => {
    const services = [{ type: SERVICE.pidRevocation, certificates: [issuer.der] }, { certificates: [issuer.der] }]
    for (const each of [services, services.toReversed()]) {
      expect(rights(lote({ entities: [{ services: each }] }))).toEqual(PIDS.map(type => `${type} pkix both`))
    }
  })

  test('grants only the types that the source allows, by the colon for national ones', () => {
    const list = service(LOTE.pid, {})
    expect(rights(list, { types: ['urn:eudi:pid:1'] })).toEqual(['urn:eudi:pid:1 pkix both'])
    expect(rights(list, { types: ['urn:eudi:pid:no:1'] })).toEqual(['urn:eudi:pid:no:1 pkix both'])
    expect(rights(list, { types: ['urn:eudi:pid:de:1', 'urn:eudi:pid:nothing:1', 'urn:eudi:pid:no'] })).toEqual([])
    expect(rights(list, { types: [MDL] })).toEqual([])
  })

  test('of another service grants nothing', () => {
    for (const type of [SERVICE.pubEaaIssuance, SERVICE.wrpacIssuance, `${SERVICE.pidIssuance}/x`]) {
      expect(rights(service(LOTE.pid, { type }))).toEqual([])
    }
  })

  test('that is withdrawn serves the explanation only', () => {
    const since = NOW - 3 * DAY_MS
    const [first] = granted(service(LOTE.pid, { status: STATUS.withdrawn, since }))
    expect(first).toMatchObject({ use: 'none', since, entity: 'Test Entity', country: 'NO', label: 'Test Entity' })
  })
})

describe('an entry of another known list', () => {
  test.each([SERVICE.mdlIssuance, 'http://uri.etsi.org/19602/SvcType/mDL/Issuance'])(
    'of the mDL list with %s grants mDLs by the ISO profile',
    type => {
      expect(rights(service(LOTE.mdl, { type }))).toEqual([`${MDL} iso both`])
    },
  )

  test('of the PubEAA list grants what the source names, and nothing by itself', () => {
    const list = service(LOTE.pubEaa, { type: SERVICE.pubEaaIssuance, status: STATUS.notified })
    expect(rights(list)).toEqual([])
    expect(rights(list, { types: ['urn:diploma:1'] })).toEqual(['urn:diploma:1 pkix both'])
  })

  test('of the PubEAA list that is not notified grants nothing', () => {
    const types = ['urn:diploma:1']
    for (const about of [{ status: STATUS.withdrawn }, {}, { status: 'http://uri.etsi.org/TrstSvc/granted' }]) {
      const list = service(LOTE.pubEaa, { type: SERVICE.pubEaaIssuance, ...about })
      expect(rights(list, { types })).toEqual(['urn:diploma:1 pkix none'])
    }
  })

  test.each(['http', 'https'])('of the age list with %s grants the age attestation', scheme => {
    expect(rights(ageList({}, scheme))).toEqual(['eu.europa.ec.av.1 pkix both'])
    expect(rights({ ...ageList({}), type: 'trust.tech.ec.europa.eu/lists/age-verification/tsl-type' })).toHaveLength(1)
  })

  test('of the age list that is deprecated, or without a status, grants nothing', () => {
    for (const serviceStatus of [`${AGE}/service-status/deprecated`, null]) {
      expect(rights(ageList({ serviceStatus }))).toEqual(['eu.europa.ec.av.1 pkix none'])
    }
  })

  test('of the age list with an older service URI grants nothing', () => {
    expect(rights(ageList({ serviceType: 'http://ec.europa.eu/tools/lotl/av/TrstSvc/Svctype/PAA' }))).toEqual([])
  })
})

describe('an entry of a list that is not known', () => {
  const TYPE = 'https://pilot.example/list'
  const issuance = 'https://pilot.example/issuance'
  const rules = { types: ['urn:pilot:1'], serviceType: issuance }

  test('grants exactly the types that the source names, for the service that it names', () => {
    expect(rights(service(TYPE, { type: issuance }), rules)).toEqual(['urn:pilot:1 pkix both'])
    expect(rights(service(TYPE, { type: 'https://pilot.example/other' }), rules)).toEqual([])
    expect(rights(service(TYPE, { type: issuance }), { types: ['urn:pilot:1'] })).toEqual([])
    expect(rights(service(TYPE, { type: issuance }), { serviceType: issuance })).toEqual([])
    expect(rights(service(TYPE, { type: issuance }))).toEqual([])
  })

  test.each(['granted', 'recognized', 'notified'])('with a status that ends in %s is in force', end => {
    const list = (status: string) => service(TYPE, { type: issuance, status })
    expect(rights(list(`https://pilot.example/${end}`), rules)).toEqual(['urn:pilot:1 pkix both'])
    expect(rights(list(`https://pilot.example/not${end}`), rules)).toEqual(['urn:pilot:1 pkix none'])
    expect(rights(list(`https://pilot.example/${end}/no`), rules)).toEqual(['urn:pilot:1 pkix none'])
  })
})

describe('a list of parties that issue nothing', () => {
  test.each([LOTE.wallets, LOTE.wrpac])('such as %s grants nothing, whatever the source names', type => {
    const list = service(type, { type: SERVICE.wrpacIssuance })
    expect(rights(list, { types: ['urn:eudi:pid:1'], serviceType: SERVICE.wrpacIssuance })).toEqual([])
  })

  test("is kept for the operator's own papers, and vouches for no document", () => {
    const list = service(LOTE.wrpac, { type: SERVICE.wrpacIssuance })
    expect(rights(list, { use: 'relying_party' })).toEqual([`${SERVICE.wrpacIssuance} pkix relying_party`])
    const revocation = service(LOTE.wrpac, { type: 'http://uri.etsi.org/19602/SvcType/WRPAC/Revocation' })
    expect(rights(revocation, { use: 'relying_party' })).toEqual([])
  })

  test('grants no documents of a PID list that is there for the papers', () => {
    expect(rights(service(LOTE.pid, {}), { use: 'relying_party' })).toEqual([`${SERVICE.pidIssuance} pkix relying_party`])
  })
})

describe('an entry that does not count', () => {
  test('is skipped and counted when it has expired, and only then', async () => {
    const ending = await makeIssuer({ notAfter: NOW })
    expect(skipped(vical([MDL], ending.der))).toEqual({})
    expect(skipped(vical([MDL], ending.der), {}, NOW + 1)).toEqual({ expired: 1 })
  })

  test('is skipped and counted when its key is of a kind that is not accepted', () => {
    expect(skipped(vical([MDL], BRAINPOOL))).toEqual({ key_refused: 1 })
  })

  test('is added to those that the reader skipped', () => {
    const list = accepted(
      readVical(
        makeVical({ entries: [{ certificate: Uint8Array.of(1) }, { certificate: issuer.der, docTypes: ['x'] }] }, signer),
      ),
    )
    expect(skipped(list)).toEqual({ unreadable: 1, other_type: 1 })
    expect(list.skipped).toEqual({ unreadable: 1 })
  })
})

test('a certificate with one service in force and one withdrawn is granted once, in force', () => {
  const withdrawn = { certificates: [issuer.der], status: STATUS.withdrawn }
  const services = [withdrawn, { certificates: [issuer.der] }, { certificates: [other.der] }]
  for (const each of [services, services.toReversed()]) {
    expect(granted(lote({ entities: [{ services: each }] })).map(({ use }) => use)).toEqual(['both', 'both', 'both', 'both'])
  }
})
