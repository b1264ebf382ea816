import { describe, expect, test } from 'bun:test'
import { Findings } from '../../src/openid4vp/finding.ts'
import { type CrlPolicy, createCrlChecker, type FetchCrl } from '../../src/openid4vp/trust/crl-check.ts'
import { CRL_BYTES_MAX, CrlFault, readCrl } from '../../src/openid4vp/x509/crl.ts'
import { type Certificate, describeCertificate } from '../../src/openid4vp/x509/x509.ts'
import {
  crlPoint,
  DAY_MS,
  Extension,
  type Issued,
  isAuthority,
  issue,
  issueAuthority,
  makeCrl,
  makeKeys,
  NOW,
  Usage,
  usages,
  type WantedCrl,
} from '../helpers/certificates.ts'

const URI = 'https://issuer.example/crl'
const OTHER_URI = 'http://mirror.example/crl'

const read = ({ der }: Issued): Certificate => describeCertificate(der)!

/** An issuing distribution point (RFC 5280 § 5.2.5) from its members, each as DER. */
const scope = (...members: number[][]) => {
  const content = members.flat()
  return new Extension('2.5.29.28', true, Uint8Array.of(0x30, content.length, ...content))
}
const ONLY_USERS = [0x81, 1, 0xff]
const ONLY_AUTHORITIES = [0x82, 1, 0xff]
const SOME_REASONS = [0x83, 2, 0x01, 0x40]
const INDIRECT = [0x84, 1, 0xff]
const named = (uri: string) => {
  const text = [...Buffer.from(uri)]
  return [0xa0, text.length + 4, 0xa0, text.length + 2, 0x86, text.length, ...text]
}

const root = await issueAuthority()

describe('a revocation list', () => {
  test.each([
    ['P-256', { name: 'ECDSA', namedCurve: 'P-256' }],
    ['P-384', { name: 'ECDSA', namedCurve: 'P-384' }],
    ['RSA', { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' }],
    [
      'RSA-PSS',
      { name: 'RSA-PSS', modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256', saltLength: 32 },
    ],
    ['Ed25519', { name: 'Ed25519' }],
  ] as [string, EcKeyGenParams][])('a list signed with %s is read with its serial numbers and dates', async (_, algorithm) => {
    const root = await issueAuthority({ keys: await makeKeys(algorithm) })
    const der = await makeCrl(root, { revoked: ['0a', '00ff01'] })
    expect(readCrl(der, read(root), NOW)).toEqual({
      thisUpdate: NOW - DAY_MS,
      nextUpdate: NOW + DAY_MS,
      revoked: new Set(['0a', '00ff01']),
      covers: 'all',
      places: undefined,
    })
  })

  test.each<[string, WantedCrl, string]>([
    ['past its nextUpdate, to the millisecond,', { nextUpdate: NOW }, 'it has expired'],
    ['dated in the future', { thisUpdate: NOW + DAY_MS, nextUpdate: NOW + 2 * DAY_MS }, 'dated in the future'],
    ['of another authority', { name: 'C=NL, CN=Somebody Else' }, 'another authority issued it'],
    [
      'with an unknown critical extension',
      { extensions: [new Extension('1.2.3.4', true, Uint8Array.of(5, 0))] },
      'not known here',
    ],
    [
      'with changes only (a delta list)',
      { extensions: [new Extension('2.5.29.27', true, Uint8Array.of(2, 1, 1))] },
      'it has only the changes of another list',
    ],
    [
      'with changes only, although its mark is not critical',
      { extensions: [new Extension('2.5.29.27', false, Uint8Array.of(2, 1, 1))] },
      'it has only the changes of another list',
    ],
    ['for some reasons only', { extensions: [scope(SOME_REASONS)] }, 'not known here'],
    ['for other issuers (indirect)', { extensions: [scope(INDIRECT)] }, 'not known here'],
  ])('a list is refused: %s', async (_, wanted, why) => {
    const der = await makeCrl(root, wanted)
    expect(() => readCrl(der, read(root), NOW)).toThrow(why)
    expect(() => readCrl(der, read(root), NOW)).toThrow(CrlFault)
  })

  test('a list is read with its scope', async () => {
    const der = await makeCrl(root, { extensions: [scope(named(URI), ONLY_USERS)] })
    expect(readCrl(der, read(root), NOW)).toMatchObject({ covers: 'others', places: [URI] })
  })

  test('a list signed with another key under the same name is refused', async () => {
    const impostor = await issueAuthority()
    const der = await makeCrl(impostor)
    expect(() => readCrl(der, read(root), NOW)).toThrow('its signature does not hold')
  })

  test('a list signed by another kind of key than that of its authority is refused, not called unreachable', async () => {
    const edwards = await issueAuthority({ keys: await makeKeys({ name: 'Ed25519' } as EcKeyGenParams) })
    const der = await makeCrl(root)
    expect(edwards.name).toBe(root.name)
    expect(() => readCrl(der, read(edwards), NOW)).toThrow(new CrlFault('its signature does not hold'))
  })

  test('a list of an authority without cRLSign is refused', async () => {
    const root = await issueAuthority({ extensions: [isAuthority(), usages(Usage.keyCertSign)] })
    const der = await makeCrl(root)
    expect(() => readCrl(der, read(root), NOW)).toThrow('may not sign such lists')
  })

  test('a list with any byte changed, or truncated anywhere, is refused', async () => {
    const authority = read(root)
    const der = await makeCrl(root, { revoked: ['0a'] })
    for (let at = 0; at < der.length; at++) {
      const changed = Uint8Array.from(der)
      changed[at]! ^= 1
      expect(() => readCrl(changed, authority, NOW)).toThrow(CrlFault)
      expect(() => readCrl(der.subarray(0, at), authority, NOW)).toThrow(CrlFault)
    }
  })

  test('a list larger than the limit is refused before it is parsed', async () => {
    expect(() => readCrl(new Uint8Array(CRL_BYTES_MAX + 1), read(root), NOW)).toThrow('it is too large')
  })
})

/** A signer under a root, a clock, and a server with responses chosen by the test. */
async function makeWorld(uris = [URI]) {
  const leaf = await issue({ issuer: root, extensions: [crlPoint(...uris)] })
  const path = [read(leaf), read(root)]
  const clock = { now: NOW }
  const fetches: string[] = []
  const answers = new Map<string, Awaited<ReturnType<FetchCrl>>>()
  const checker = createCrlChecker(
    async uri => {
      fetches.push(uri)
      return answers.get(uri) ?? { ok: false, reason: 'it did not answer' }
    },
    () => clock.now,
  )
  return {
    root,
    path,
    clock,
    fetches,
    async publish(wanted: WantedCrl = {}, uri = URI) {
      answers.set(uri, { ok: true, body: await makeCrl(root, wanted) })
    },
    withdraw: () => answers.clear(),
    async check(policy: CrlPolicy = 'require', certificates = path) {
      const findings = new Findings(() => clock.now)
      findings.pass('issuer_chain')
      await checker.check(findings, certificates, policy)
      const [found] = findings.all.slice(1)
      return { holds: findings.failures.length === 0, status: found?.status, detail: found?.detail }
    },
  }
}

/** Root, an authority and a leaf, with the addresses of the lists for these two. */
async function longPath(ofMiddle = [URI], ofLeaf?: string[]) {
  const extensions = [isAuthority(), crlPoint(...ofMiddle)]
  const middle = await issueAuthority({ name: 'C=NL, CN=Middle', issuer: root, extensions })
  const leaf = await issue({ issuer: middle, extensions: ofLeaf ? [crlPoint(...ofLeaf)] : [] })
  return { middle, path: [leaf, middle, root].map(read) }
}

/** The findings on the last of these paths, with a time limit of a millisecond. */
async function checkWith(fetch: FetchCrl, ...paths: Certificate[][]): Promise<Findings> {
  const checker = createCrlChecker(fetch, () => NOW, { waitMs: 1 })
  let findings = new Findings(() => NOW)
  for (const path of paths) {
    findings = new Findings(() => NOW)
    await checker.check(findings, path, 'warn')
  }
  return findings
}

const GOOD = { holds: true, status: undefined, detail: undefined }
const REVOKED = { holds: false, status: 'fail' as const, detail: 'The authority of the issuer has revoked its certificate.' }

describe('the check of a path', () => {
  test('a path fails once the list contains its certificate', async () => {
    const world = await makeWorld()
    await world.publish({ revoked: ['77'] })
    expect(await world.check()).toEqual(GOOD)
    world.clock.now += DAY_MS
    await world.publish({
      revoked: ['77', world.path[0]!.serialNumber],
      thisUpdate: world.clock.now,
      nextUpdate: world.clock.now + DAY_MS,
    })
    for (const policy of ['require', 'warn'] as const) expect(await world.check(policy)).toEqual(REVOKED)
  })

  test('no list is fetched if the certificate names none, or if the policy is off', async () => {
    const world = await makeWorld()
    expect(await world.check('off')).toEqual(GOOD)
    const plain = read(await issue({ issuer: world.root }))
    expect(await world.check('require', [plain, world.path[1]!])).toEqual(GOOD)
    expect(world.fetches).toEqual([])
  })

  test('the anchor itself is not checked', async () => {
    const world = await makeWorld()
    expect(await world.check('require', [world.path[0]!])).toEqual(GOOD)
    expect(world.fetches).toEqual([])
  })

  test('an unreadable list refuses the path if required, and otherwise warns', async () => {
    const world = await makeWorld()
    const detail = "The revocation list for the issuer's certificate could not be used: it did not answer."
    expect(await world.check('warn')).toEqual({ holds: true, status: 'warning', detail })
    expect(await world.check('require')).toEqual({
      holds: false,
      status: 'fail',
      detail: `${detail} The certificate may be revoked. Try again later.`,
    })
  })

  test('an unreachable host is asked again after ten seconds', async () => {
    const world = await makeWorld()
    await world.check()
    world.clock.now += 9_999
    await world.check()
    expect(world.fetches).toHaveLength(1)
    world.clock.now += 1
    await world.publish()
    expect(await world.check()).toEqual(GOOD)
    expect(world.fetches).toHaveLength(2)
  })

  test('simultaneous checks share one fetch, and the list is kept for a day or until it expires', async () => {
    const world = await makeWorld()
    await world.publish({ nextUpdate: NOW + 10 * DAY_MS })
    await Promise.all([world.check(), world.check(), world.check()])
    world.clock.now += DAY_MS - 1
    await world.check()
    expect(world.fetches).toHaveLength(1)
    world.clock.now += 1
    await world.check()
    expect(world.fetches).toHaveLength(2)
  })

  test('a list that cannot be refreshed is used until it expires', async () => {
    const world = await makeWorld()
    await world.publish({ nextUpdate: NOW + 3 * DAY_MS })
    await world.check()
    world.withdraw()
    world.clock.now = NOW + 3 * DAY_MS - 1
    expect(await world.check()).toEqual(GOOD)
    world.clock.now = NOW + 3 * DAY_MS + 20_000
    expect((await world.check()).status).toBe('fail')
  })

  test('a newer list is kept if an older one that is still valid is replayed', async () => {
    const world = await makeWorld()
    await world.publish({ revoked: [world.path[0]!.serialNumber], nextUpdate: NOW + 10 * DAY_MS })
    expect(await world.check()).toEqual(REVOKED)
    world.clock.now += DAY_MS
    await world.publish({ thisUpdate: NOW - 2 * DAY_MS, nextUpdate: NOW + 10 * DAY_MS })
    expect(await world.check()).toEqual(REVOKED)
  })

  test('the next address is tried if the first has no usable list', async () => {
    const world = await makeWorld([URI, OTHER_URI])
    await world.publish({ revoked: [world.path[0]!.serialNumber] }, OTHER_URI)
    expect(await world.check()).toEqual(REVOKED)
    expect(world.fetches).toEqual([URI, OTHER_URI])
  })

  test.each([
    ['http', OTHER_URI],
    ['ldap', 'ldap://issuer.example/cn=crl'],
  ])('a list that names another place of the certificate, by %s, is used', async (_, place) => {
    const world = await makeWorld([place, URI])
    await world.publish({ extensions: [scope(named(place))] })
    expect(await world.check()).toEqual(GOOD)
  })

  test('a list that names only places of other certificates is not used, although it was for those', async () => {
    const world = await makeWorld([OTHER_URI, URI])
    await world.publish({ extensions: [scope(named(OTHER_URI))] })
    expect(await world.check()).toEqual(GOOD)
    const other = read(await issue({ issuer: root, extensions: [crlPoint(URI)] }))
    expect((await world.check('require', [other, read(root)])).detail).toContain('it is made for another address')
  })

  test('a list that was used for other certificates is asked for again once it is right', async () => {
    const world = await makeWorld([OTHER_URI, URI])
    await world.publish({ extensions: [scope(named(OTHER_URI))], nextUpdate: NOW + 3 * DAY_MS })
    expect(await world.check()).toEqual(GOOD)
    await world.publish({ nextUpdate: NOW + 3 * DAY_MS })
    const other = read(await issue({ issuer: root, extensions: [crlPoint(URI)] }))
    expect(await world.check('require', [other, read(root)])).toEqual(GOOD)
  })

  test('a list for other certificates does not take the place of the right one', async () => {
    const world = await makeWorld()
    await world.publish({ revoked: [world.path[0]!.serialNumber], nextUpdate: NOW + 3 * DAY_MS })
    expect(await world.check()).toEqual(REVOKED)
    world.clock.now += DAY_MS
    await world.publish({ thisUpdate: world.clock.now, nextUpdate: NOW + 3 * DAY_MS, extensions: [scope(named(OTHER_URI))] })
    expect(await world.check()).toEqual(REVOKED)
  })

  test('a list of authorities is not used for a signer', async () => {
    const world = await makeWorld()
    await world.publish({ extensions: [scope(ONLY_AUTHORITIES)] })
    expect((await world.check()).detail).toContain('it does not cover this certificate')
  })

  test('an authority between signer and root is checked, too', async () => {
    const { path, middle } = await longPath()
    const body = await makeCrl(root, { revoked: [read(middle).serialNumber], extensions: [scope(ONLY_AUTHORITIES)] })
    const findings = await checkWith(async () => ({ ok: true, body }), path)
    expect(findings.failures).toEqual(['issuer_untrusted'])
  })

  test('a revoked authority refuses the path as untrusted, also beside a list that cannot be read', async () => {
    const { path, middle } = await longPath([URI], [OTHER_URI])
    const body = await makeCrl(root, { revoked: [read(middle).serialNumber] })
    const fetch: FetchCrl = async uri => (uri === URI ? { ok: true, body } : { ok: false, reason: 'it did not answer' })
    const findings = new Findings(() => NOW)
    await createCrlChecker(fetch, () => NOW).check(findings, path, 'require')
    expect(findings.failures).toEqual(['issuer_untrusted'])
  })

  test('lists that never arrive share one time limit', async () => {
    const { path } = await longPath([URI, OTHER_URI], [URI, OTHER_URI])
    const findings = await checkWith(() => new Promise(() => {}), path)
    expect(findings.all.map(({ status, detail }) => [status, detail?.split(': ')[1]])).toEqual([
      ['warning', 'it took too long to answer.'],
      ['warning', 'it took too long to answer.'],
    ])
  })

  test('a kept list is used although the server of another one never answers', async () => {
    const { path, middle } = await longPath([URI], [OTHER_URI])
    const body = await makeCrl(root, { revoked: [read(middle).serialNumber] })
    const fetch: FetchCrl = uri => (uri === URI ? Promise.resolve({ ok: true, body }) : new Promise(() => {}))
    const findings = await checkWith(fetch, path.slice(1), path)
    expect(findings.failures).toEqual(['issuer_untrusted'])
  })

  test('a list for some reasons only, which is all that the certificate names, is not fetched, and the finding says so', async () => {
    const world = await makeWorld()
    const point = [...named(URI), 0x81, 2, 0x01, 0x40]
    const value = Uint8Array.of(0x30, point.length + 2, 0x30, point.length, ...point)
    const leaf = read(await issue({ issuer: root, extensions: [new Extension('2.5.29.31', false, value)] }))
    expect((await world.check('require', [leaf, read(root)])).detail).toContain(
      'could not be used: the certificate names none that is complete and of its own authority.',
    )
    expect(world.fetches).toEqual([])
  })

  test('an address that is neither http nor https counts as unreadable', async () => {
    const world = await makeWorld(['ldap://issuer.example/cn=crl'])
    expect((await world.check()).detail).toContain('it is not at an http or https address')
    expect(world.fetches).toEqual([])
  })
})
