import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { Encoder, Tag } from 'cbor-x'
import { CompactSign } from 'jose'
import { Lru } from '../../src/base/lru.ts'
import { parseCbor } from '../../src/openid4vp/cbor/cbor.ts'
import { parseSign1, verifySign1 } from '../../src/openid4vp/cbor/cose.ts'
import type { StatusReference } from '../../src/openid4vp/credential.ts'
import { Findings } from '../../src/openid4vp/finding.ts'
import { decodeStatusList, statusAt } from '../../src/openid4vp/status/bits.ts'
import { createStatusChecker, type StatusContext } from '../../src/openid4vp/status/list.ts'
import { type FetchStatus, findTokenFault } from '../../src/openid4vp/status/read-list.ts'
import { readStatusCwt, readStatusJwt, type StatusToken } from '../../src/openid4vp/status/token.ts'
import { AnchorIndex } from '../../src/openid4vp/trust/anchor-index.ts'
import { createCrlChecker } from '../../src/openid4vp/trust/crl-check.ts'
import type { TrustAnchor } from '../../src/openid4vp/trust/trust.ts'
import { anchorOf } from '../helpers/anchors.ts'
import { type Issued, issue, issueAuthority, makeKeys, NOW, purposes } from '../helpers/certificates.ts'
import { vectors } from '../helpers/vectors.ts'

type Input = {
  status_list: { bits: number; lst: string }
  token: string
  token_hex: string
  key_jwk: Record<'kty' | 'crv' | 'x' | 'y', string>
  referenced: { uri: string; idx?: number }
}

const importKey = ({ kty, crv, x, y }: Input['key_jwk']): Promise<CryptoKey> =>
  crypto.subtle.importKey('jwk', { kty, crv, x, y }, { name: 'ECDSA', namedCurve: crv }, true, ['verify'])

const SECOND = 1000
const HOUR = 3600 * SECOND
const URI = 'https://issuer.example/status/1'
const PID = 'urn:eudi:pid:1'
const JWT = 'application/statuslist+jwt'
const CWT = 'application/statuslist+cwt'

describe('status-list.json', () => {
  for (const { id, kind, title, input, context, expect: expected } of vectors<Input>('status-list.json')) {
    const now = Date.parse(context?.now ?? '')
    const keyOf = () => importKey(input.key_jwk)

    if (kind === 'status.list') {
      test(`${id}: ${title}`, async () => {
        const { bits, lst } = input.status_list
        const list = await decodeStatusList({ bits, lst: Buffer.from(lst, 'base64url') })
        if (!list) throw new Error('not a list')
        const entries = expected.entries as number
        const nonZero = Array.from({ length: entries }, (_, index) => statusAt(list, index)).filter(status => status !== 0)
        expect([list.bytes.length, nonZero.length]).toEqual([
          expected.uncompressed_bytes as number,
          expected.non_zero_entries as number,
        ])
        expectStatuses(list, expected.at as Record<string, number>)
        expect(statusAt(list, expected.out_of_bounds_index as number)).toBeUndefined()
        expect(statusAt(list, entries - 1)).toBeDefined()
      })
    }

    if (kind === 'status.token_jwt' || kind === 'status.token_cwt') {
      test(`${id}: ${title}`, async () => {
        const outcome = await outcomeOf(input, now, keyOf)
        const wanted: Record<string, string> = { 'status.invalid': 'status 1', 'status.suspended': 'status 2' }
        const reason = expected.reason ?? ''
        expect(outcome).toBe(expected.outcome === 'accept' ? 'status 0' : (wanted[reason] ?? FAULTS[reason] ?? 'a known reason'))
        if (!expected.status_at) return
        const token = await (input.token
          ? readStatusJwt(input.token, keyOf)
          : readStatusCwt(Buffer.from(input.token_hex, 'hex'), keyOf))
        expectStatuses(token.list, expected.status_at as Record<string, number>)
      })
    }

    // Credentials never have this form; the test covers our COSE and CBOR reader.
    if (kind === 'status.referenced_cwt') {
      test(`${id}: ${title}`, async () => {
        const sign1 = parseSign1(Buffer.from(input.token_hex, 'hex'))
        const key = await importKey(input.key_jwk)
        expect(await verifySign1(sign1, { curve: 'P-256', key })).toBe(true)
        const list = parseCbor(sign1.payload ?? new Uint8Array())
          .asMap()
          .get(65535)
          ?.asMap()
          .get('status_list')
          ?.asMap()
        const { status_list } = expected.status as { status_list: unknown }
        expect({ idx: list?.get('idx')?.asUint(), uri: list?.get('uri')?.asText() }).toEqual(status_list as never)
      })
    }
  }

  const FAULTS: Record<string, string> = {
    'status.out_of_bounds': 'out of range',
    'status.sub': 'made for another address',
    'status.expired': 'has expired',
    'status.typ': 'is not one',
    'status.bits': 'damaged or too large',
    'status.size (policy limit)': 'damaged or too large',
    'status.signature': 'signature of the issuer',
  }

  async function outcomeOf(input: Input, now: number, keyOf: () => Promise<CryptoKey>): Promise<string> {
    const { uri, idx = 1 } = input.referenced
    const read = input.token ? readStatusJwt(input.token, keyOf) : readStatusCwt(Buffer.from(input.token_hex, 'hex'), keyOf)
    const token = await read.catch((error: Error) => error.message)
    const fault = typeof token === 'string' ? token : findTokenFault(token, uri, now)
    if (fault !== undefined) return Object.values(FAULTS).find(known => fault.includes(known)) ?? fault
    const status = statusAt((token as StatusToken).list, idx)
    return status === undefined ? 'out of range' : `status ${status}`
  }

  function expectStatuses(list: StatusToken['list'], statuses: Record<string, number>): void {
    const seen = Object.keys(statuses).map(index => [index, statusAt(list, Number(index))])
    expect(Object.fromEntries(seen)).toEqual(statuses)
  }
})

describe('a status list', () => {
  test('a status list is read from zlib data only', async () => {
    const bytes = Buffer.from([0b10])
    expect(await decodeStatusList({ bits: 1, lst: deflateSync(bytes) })).toBeDefined()
    for (const lst of [deflateRawSync(bytes), gzipSync(bytes), deflateSync(bytes).subarray(0, -1), Buffer.alloc(0)]) {
      expect(await decodeStatusList({ bits: 1, lst })).toBeUndefined()
    }
  })

  test('a status list has 1, 2, 4 or 8 bits per status', async () => {
    const bitsOf = async (bits: unknown) => (await decodeStatusList({ bits, lst: deflateSync(Buffer.from([0])) }))?.bits
    expect(await Promise.all([1, 2, 4, 8].map(bitsOf))).toEqual([1, 2, 4, 8])
    const others = await Promise.all([0, 3, 16, -1, '1', 1.5, undefined, null].map(bitsOf))
    expect(others.filter(bits => bits !== undefined)).toEqual([])
  })

  test('a status list inflates to at most 32 MiB', async () => {
    const limit = 32 * 1024 * 1024
    const inflatedOf = (bytes: number) => decodeStatusList({ bits: 8, lst: deflateSync(Buffer.alloc(bytes)) })
    expect((await inflatedOf(limit))?.bytes.length).toBe(limit)
    expect(await inflatedOf(limit + 1)).toBeUndefined()
  })

  test('a bomb of 256 MiB takes no more memory than one of 64 MiB', () => {
    const script = `
      import { decodeStatusList } from '${join(import.meta.dir, '../../src/openid4vp/status/bits.ts')}'
      const list = await decodeStatusList({ bits: 1, lst: Buffer.from(await Bun.stdin.arrayBuffer()) })
      console.log(JSON.stringify({ isRead: list !== undefined, peak: process.resourceUsage().maxRSS }))`
    const peakKiB = (bytes: number): number => {
      const bomb = deflateSync(Buffer.alloc(bytes), { level: 1 })
      const { isRead, peak } = JSON.parse(Bun.spawnSync([process.execPath, '-e', script], { stdin: bomb }).stdout.toString())
      expect(isRead).toBe(false)
      return peak
    }
    expect(peakKiB(2 ** 28) - peakKiB(2 ** 26)).toBeLessThan(2 ** 16)
  })

  test('a negative, fractional or too large index has no status', () => {
    const list = { bits: 2, bytes: Uint8Array.of(0b11100100) }
    expect([0, 1, 2, 3].map(index => statusAt(list, index))).toEqual([0, 1, 2, 3])
    for (const index of [-1, 4, 0.5, Number.NaN, 2 ** 53]) expect(statusAt(list, index)).toBeUndefined()
  })
})

describe('the meaning of a status', () => {
  test('status 0 is valid, 1 revoked, 2 suspended; others, and an index beyond the list, are unknown', async () => {
    const world = await serving({ bits: 4, statuses: Uint8Array.of(0x10, 0x32, 0xfc) })
    expect(await world.check(0)).toBe('pass')
    expect(await world.check(1)).toBe('credential_revoked: The issuer has revoked this credential.')
    expect(await world.check(2)).toBe('credential_revoked: The issuer has suspended this credential for now.')
    for (const index of [3, 4, 5])
      expect(await world.check(index)).toStartWith('status_unknown: The issuer gives this credential')
    expect(await world.check(6)).toStartWith('status_unknown: The credential is not on')
  })

  test('no reference passes, an unknown mechanism is unknown, and neither fetches a list', async () => {
    const world = await makeWorld()
    expect(await world.check(undefined)).toBe('pass')
    expect(await world.check('unsupported')).toStartWith('status_unknown: ')
    expect(world.fetches).toEqual([])
  })

  test('no list is fetched for an untrusted issuer', async () => {
    const world = await serving()
    expect(await world.check(0, { anchor: undefined })).toStartWith('skipped: ')
    expect(world.fetches).toEqual([])
  })
})

describe('the token', () => {
  const cases: [string, Sent, string | undefined][] = [
    ['is accepted as it should be', {}, undefined],
    ['without exp and ttl is accepted', { claims: { exp: undefined, ttl: undefined } }, undefined],
    ['with a ttl of 0 is accepted', { claims: { ttl: 0 } }, undefined],
    ['with a negative ttl is not', { claims: { ttl: -1 } }, 'is not one'],
    ['with a huge ttl is accepted', { claims: { ttl: 1e15 } }, undefined],
    ['has the typ of a status list', { header: { typ: 'JWT' } }, 'is not one'],
    ['has a typ', { header: { typ: undefined } }, 'is not one'],
    ['has no unknown critical header', { header: { crit: ['b64'] } }, 'is not one'],
    ['is made for the address it was fetched from', { claims: { sub: `${URI}2` } }, 'another address'],
    ['has a sub', { claims: { sub: undefined } }, 'is not one'],
    ['has an iat', { claims: { iat: undefined } }, 'is not one'],
    ['has an iat that is a number', { claims: { iat: '1' } }, 'is not one'],
    ['may be dated ahead by the skew of clocks', { claims: { iat: NOW / SECOND + 60 } }, undefined],
    ['may not be dated ahead by more', { claims: { iat: NOW / SECOND + 61 } }, 'dated in the future'],
    ['counts from its nbf on, give or take the skew of clocks', { claims: { nbf: NOW / SECOND + 60 } }, undefined],
    ['does not count before its nbf', { claims: { nbf: NOW / SECOND + 61 } }, 'dated in the future'],
    ['has an nbf that is a number', { claims: { nbf: 'now' } }, 'is not one'],
    ['is over at its exp', { claims: { exp: NOW / SECOND } }, 'has expired'],
    ['holds until its exp', { claims: { exp: NOW / SECOND + 1 } }, undefined],
    ['has an exp that is a number', { claims: { exp: 'never' } }, 'is not one'],
    ['has a list', { claims: { status_list: undefined } }, 'is not one'],
    ['has a list in base64url', { claims: { status_list: { bits: 1, lst: 'eN/+' } } }, 'damaged'],
    [
      'has a list without padding',
      { claims: { status_list: { bits: 1, lst: `${deflateSync(Buffer.from([0])).toString('base64url')}=` } } },
      'damaged',
    ],
    ['has a list of zlib', { lst: deflateRawSync(Buffer.from([0])) }, 'damaged'],
    ['has a list of 1, 2, 4 or 8 bits', { bits: 3 }, 'damaged'],
    ['has a certificate', { header: { x5c: undefined } }, 'without a usable certificate'],
    ['has certificates in its x5c', { header: { x5c: 'MII' } }, 'is not one'],
    ['has an x5c of base64, not base64url', { header: { x5c: ['AA-A'] } }, 'is not one'],
    ['has at most five certificates', { header: { x5c: Array(6).fill('AAAA') } }, 'is not one'],
    ['has a readable certificate', { header: { x5c: ['AAAA'] } }, 'without a usable certificate'],
    ['is found under its content type', { contentType: 'text/html' }, 'is not one'],
    ['may have parameters in its content type', { contentType: `${JWT.toUpperCase()}; charset=utf-8` }, undefined],
    ['is not HTML', { body: '<html>not found</html>' }, 'is not one'],
    ['may end with a line break', { suffix: '\n' }, undefined],
    ['has three parts', { suffix: '.e30' }, 'is not one'],
    ['has JSON without a name twice', { payload: `{"sub":"x","sub":"${URI}"}` }, 'is not one'],
    ['is not too large', { body: 'x'.repeat(2 * 1024 * 1024 + 1) }, 'too large'],
  ]
  test.each(cases)('a token %s', async (_, sent, fault) => {
    const world = await serving(sent)
    expectFault(await world.check(0), fault)
  })

  test('a token without a signature, with an HMAC, or with a changed payload is refused', async () => {
    const world = await makeWorld()
    const [header = '', payload = '', signature = ''] = (await world.jwt({})).split('.')
    const other = (await world.jwt({ statuses: Uint8Array.of(1) })).split('.')[1]
    const withAlg = (alg: string) =>
      Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(header, 'base64url').toString()), alg })).toString('base64url')
    const forged = [
      `${withAlg('none')}.${payload}.${signature}`,
      `${withAlg('none')}.${payload}.`,
      `${withAlg('HS256')}.${payload}.${signature}`,
      `${withAlg('ES384')}.${payload}.${signature}`,
      `${header}.${other}.${signature}`,
    ]
    for (const token of forged) {
      const fresh = await makeWorld(world)
      fresh.serve(token)
      expect(await fresh.check(0)).toStartWith('status_unknown: ')
    }
  })

  test('a token may be signed with ES384 or EdDSA, not with ES512', async () => {
    for (const [algorithm, alg, outcome] of [
      [{ name: 'ECDSA', namedCurve: 'P-384' }, 'ES384', 'pass'],
      [{ name: 'Ed25519', namedCurve: '' }, 'EdDSA', 'pass'],
      [{ name: 'ECDSA', namedCurve: 'P-521' }, 'ES512', 'status_unknown'],
    ] as const) {
      const world = await makeWorld()
      const signer = await issue({ issuer: world.root, keys: await makeKeys(algorithm) })
      world.serve(await world.jwt({ signer, header: { alg } }))
      expect(await world.check(0)).toStartWith(outcome)
    }
  })
})

describe('the signer of a status list', () => {
  test("the signer is below the credential's own anchor, or below one for status lists; any other is status_unknown and named", async () => {
    const world = await makeWorld()
    const other = await issueAuthority({ name: 'CN=Other Root' })
    const byRoot = await issue({ name: 'CN=Lists', issuer: world.root })
    const byOther = await issue({ name: 'CN=Foreign Lists', issuer: other })
    const otherAnchor = anchorOf(other, { id: 'other', label: 'Other issuer', trustedFor: PID })
    const among = (wanted: Partial<TrustAnchor>) => ({ anchors: new AnchorIndex([world.anchor, { ...otherAnchor, ...wanted }]) })

    expect(await outcomeWith(byRoot, {})).toBe('pass')
    expect(await outcomeWith(byOther, among({ use: 'status' }))).toBe('pass')
    expect(await outcomeWith(byOther, {})).toContain('signed by someone you do not trust')
    expect(await outcomeWith(byOther, among({ use: 'status', trustedFor: 'urn:else' }))).toContain('you do not trust')
    expect(await outcomeWith(byOther, among({ use: 'both' }))).toBe(
      "status_unknown: The issuer's status list is signed by Foreign Lists (below Other issuer), who may sign the lists of its own documents only, so the credential may be revoked. If it signs for this issuer too: 'vidimus trust add FILE.pem --env test' with --use status.",
    )
    expect(await outcomeWith(byOther, among({ use: 'documents' }))).toContain('Other issuer), whom you trust for documents only')

    // The own anchor, when it is for documents only.
    const documents: TrustAnchor = { ...world.anchor, use: 'documents' }
    const strict = { anchor: documents, anchors: new AnchorIndex([documents]) }
    expect(await outcomeWith(byRoot, strict)).toContain('whom you trust for documents only')
    // The same certificate, added once more for lists.
    const both = { anchor: documents, anchors: new AnchorIndex([documents, { ...documents, id: 'lists', use: 'status' }]) }
    expect(await outcomeWith(byRoot, both)).toBe('pass')

    async function outcomeWith(signer: Issued, context: Partial<StatusContext>): Promise<string> {
      const fresh = await makeWorld(world)
      fresh.serve(await world.jwt({ signer }))
      return fresh.check(0, context)
    }
  })

  test('a self-signed certificate, or that of a reader below the right anchor, is refused', async () => {
    const world = await makeWorld()
    for (const signer of [await issue({}), await issue({ issuer: world.root, extensions: [purposes(['1.0.18013.5.1.6'])] })]) {
      const fresh = await makeWorld(world)
      fresh.serve(await world.jwt({ signer }))
      expect(await fresh.check(0)).toContain('signed by someone you do not trust')
    }
  })

  test('the signer may have intermediate certificates', async () => {
    const world = await makeWorld()
    const middle = await issueAuthority({ name: 'CN=Middle', issuer: world.root })
    const signer = await issue({ issuer: middle })
    world.serve(
      await world.jwt({ signer, header: { x5c: [signer, middle].map(({ der }) => Buffer.from(der).toString('base64')) } }),
    )
    expect(await world.check(0)).toBe('pass')
  })

  test('a corrected list is trusted soon after', async () => {
    const world = await serving({ signer: await issue({}), claims: { ttl: 86_400 } })
    expect(await world.check(0)).toContain('you do not trust')
    world.serve(await world.jwt({}))
    expect(await world.check(0)).toContain('you do not trust')
    world.advance(10 * SECOND)
    expect(await world.check(0)).toBe('pass')
    expect(world.fetches).toHaveLength(2)
  })
})

describe('CWT', () => {
  const cases: [string, SentCwt, string | undefined][] = [
    ['is accepted for an mdoc', {}, undefined],
    ['is accepted with its certificates protected', { isChainProtected: true }, undefined],
    ['is accepted without a tag', { isTagged: false }, undefined],
    ['is accepted with the tag of a CWT', { isCwtTagged: true }, undefined],
    ['has the tag of its signature behind that of a CWT', { isTagged: false, isCwtTagged: true }, 'is not one'],
    ['has the typ of a status list', { typ: 'application/cwt' }, 'is not one'],
    ['has not the typ of a list of identifiers', { typ: 'application/identifierlist+cwt' }, 'is not one'],
    ['has no other number as typ', { typ: 280 }, 'is not one'],
    ['has a typ', { typ: undefined }, 'is not one'],
    ['has a list', { claims: [[65533, undefined]] }, 'damaged'],
    ['has a list that is a map', { claims: [[65533, 'list']] }, 'is not one'],
    ['is made for the address it was fetched from', { claims: [[2, `${URI}2`]] }, 'another address'],
    ['is over at its exp', { claims: [[4, NOW / SECOND]] }, 'has expired'],
    ['does not count before its nbf', { claims: [[5, NOW / SECOND + 61]] }, 'dated in the future'],
    ['is accepted with an exp in 8 bytes, as times after 2106 are', { claims: [[4, 253_402_300_799n]] }, undefined],
    ['has no exp beyond 2^53', { claims: [[4, 2n ** 53n]] }, 'is not one'],
    ['has an iat', { claims: [[6, undefined]] }, 'is not one'],
    ['has a valid signature', { isForged: true }, 'signature of the issuer'],
    ['has nothing after its end', { suffix: Uint8Array.of(0) }, 'is not one'],
    ['has a certificate', { hasChain: false }, 'without a usable certificate'],
  ]
  test.each(cases)('a CWT %s', async (_, sent, fault) => {
    const world = await makeWorld()
    world.serve(await world.cwt(sent), CWT)
    expectFault(await world.check(0, { format: 'mso_mdoc' }), fault)
  })

  test('a CWT is refused for an SD-JWT VC; an mdoc accepts both forms', async () => {
    const world = await makeWorld()
    world.serve(await world.cwt({}), CWT)
    expect(await world.check(0)).toContain('is not one')
    expect(await world.check(0, { format: 'mso_mdoc' })).toBe('pass')
    expect(world.fetches).toEqual([`${URI} ${JWT}`, `${URI} ${CWT}, ${JWT};q=0.9`])
    const other = await makeWorld(world)
    other.serve(await world.jwt({}))
    expect(await other.check(0, { format: 'mso_mdoc' })).toBe('pass')
  })

  test.each(['statuslist+cwt', 279])('a CWT with the typ %j counts, with a warning', async typ => {
    const world = await makeWorld()
    world.serve(await world.cwt({ typ }), CWT)
    const found = await world.findings(0, { format: 'mso_mdoc' })
    expect(found.map(({ status }) => status)).toEqual(['warning', 'pass'])
    expect(found[0]!.detail).toContain('is not written "application/statuslist+cwt"')
  })

  test('a CWT reports a revoked credential', async () => {
    const world = await makeWorld()
    world.serve(await world.cwt({ statuses: Uint8Array.of(0b10) }), CWT)
    expect(await world.check(1, { format: 'mso_mdoc' })).toStartWith('credential_revoked')
  })
})

describe('fetching', () => {
  test('only https is fetched, unless the caller allows the http address', async () => {
    const world = await makeWorld(undefined, uri => uri.startsWith('http://localhost:3000/'))
    for (const uri of ['http://issuer.example/1', 'file:///etc/passwd', 'data:,x', 'issuer.example/1', '']) {
      expect(await world.check({ uri, index: 0 })).toContain('not at an https address')
    }
    expect(world.fetches).toEqual([])
    const own = 'http://localhost:3000/sandbox/status/1'
    world.serve(await world.jwt({ claims: { sub: own } }))
    expect(await world.check({ uri: own, index: 0 })).toBe('pass')
  })

  test('a failed or throwing fetch is unknown, with its reason', async () => {
    const world = await makeWorld()
    expect(await world.check(0)).toBe(
      "status_unknown: The issuer's status list could not be fetched: it did not answer. Try again later.",
    )
    const findings = new Findings(() => NOW)
    const throwing = createStatusChecker(
      () => Promise.reject(new Error('secret')),
      () => NOW,
    )
    await throwing.check(findings, [{ uri: URI, index: 0 }], world.context)
    expect(findings.failures).toEqual(['status_unknown'])
    expect(JSON.stringify(findings.all)).not.toContain('secret')
  })

  test('simultaneous checks share one fetch, later ones the list', async () => {
    const world = await serving()
    expect(await Promise.all(Array.from({ length: 20 }, (_, index) => world.check(index % 8)))).toEqual(Array(20).fill('pass'))
    expect(await world.check(0)).toBe('pass')
    expect(world.fetches).toHaveLength(1)
  })

  test('a failure is kept for 10 seconds, to spare an unreachable host', async () => {
    const world = await makeWorld()
    await Promise.all([world.check(0), world.check(1)])
    world.advance(10 * SECOND - 1)
    await world.check(0)
    expect(world.fetches).toHaveLength(1)
    world.advance(1)
    world.serve(await world.jwt({}))
    expect(await world.check(0)).toBe('pass')
    expect(world.fetches).toHaveLength(2)
  })

  test.each([
    ['its ttl', { ttl: 3600, exp: undefined }, HOUR],
    ['at least a minute', { ttl: 0, exp: undefined }, 60 * SECOND],
    ['at most a day', { ttl: 1e15, exp: undefined }, 24 * HOUR],
    ['a quarter of an hour when it does not say', { ttl: undefined, exp: undefined }, HOUR / 4],
    ['never past its exp', { ttl: 3600, exp: NOW / SECOND + 30 }, 30 * SECOND],
  ])('a list is kept for %s', async (_, claims, keptMs) => {
    const world = await serving({ claims })
    await world.check(0)
    world.advance(keptMs - 1)
    expect(await world.check(0)).toBe('pass')
    expect(world.fetches).toHaveLength(1)
    world.advance(1)
    await world.check(0)
    expect(world.fetches).toHaveLength(2)
  })

  test('an expired list that cannot be fetched again is unknown', async () => {
    const world = await serving({ claims: { ttl: 60 } })
    expect(await world.check(0)).toBe('pass')
    world.serve(undefined)
    world.advance(60 * SECOND)
    expect(await world.check(0)).toStartWith('status_unknown')
  })

  test('a revocation is seen once the list is fetched again', async () => {
    const world = await serving({ claims: { ttl: 60 } })
    expect(await world.check(0)).toBe('pass')
    world.serve(await world.jwt({ statuses: Uint8Array.of(1) }))
    world.advance(60 * SECOND)
    expect(await world.check(0)).toStartWith('credential_revoked')
  })

  test('at most 200 lists are kept', async () => {
    const world = await makeWorld()
    const uris = Array.from({ length: 201 }, (_, index) => `https://issuer.example/${index}`)
    for (const uri of uris) {
      world.serve(await world.jwt({ claims: { sub: uri } }))
      expect(await world.check({ uri, index: 0 })).toBe('pass')
    }
    for (const uri of [uris[200], uris[1]]) expect(await world.check({ uri: uri ?? '', index: 0 })).toBe('pass')
    expect(world.fetches).toHaveLength(201)
    await world.check({ uri: uris[0] ?? '', index: 0 })
    expect(world.fetches).toHaveLength(202)
  })

  test('kept lists use at most 64 MiB', async () => {
    const world = await makeWorld()
    const uris = Array.from({ length: 17 }, (_, index) => `https://issuer.example/${index}`)
    for (const uri of uris) {
      world.serve(await world.jwt({ claims: { sub: uri }, statuses: new Uint8Array(4 * 1024 * 1024) }))
      expect(await world.check({ uri, index: 0 })).toBe('pass')
    }
    await world.check({ uri: uris[16] ?? '', index: 0 })
    expect(world.fetches).toHaveLength(17)
    await world.check({ uri: uris[0] ?? '', index: 0 })
    expect(world.fetches).toHaveLength(18)
  })
})

test('the least recently used list is dropped', () => {
  const lru = new Lru<number>({ countMax: 2 })
  lru.set('a', 1)
  lru.set('b', 2)
  lru.get('a')
  lru.set('c', 3)
  expect(['a', 'b', 'c'].map(key => lru.get(key))).toEqual([1, undefined, 3])
  expect(lru.size).toBe(2)
})

function expectFault(outcome: string, fault: string | undefined) {
  if (fault === undefined) return expect(outcome).toBe('pass')
  expect(outcome).toStartWith('status_unknown: ')
  expect(outcome).toContain(fault)
}

type Sent = {
  signer?: Issued
  header?: Record<string, unknown>
  claims?: Record<string, unknown>
  bits?: number
  statuses?: Uint8Array
  lst?: Uint8Array
  contentType?: string
  body?: string
  payload?: string
  suffix?: string
}

type SentCwt = {
  typ?: string | number | undefined
  claims?: [number, unknown][]
  statuses?: Uint8Array
  isChainProtected?: boolean
  isTagged?: boolean
  isCwtTagged?: boolean
  isForged?: boolean
  hasChain?: boolean
  suffix?: Uint8Array
}

type Reference = number | StatusReference | 'unsupported' | undefined

/** An issuer with its root, a clock, and a server without a response until the test sets one. */
async function makeWorld(like?: Record<'root' | 'signer', Issued>, allowHttp?: (uri: string) => boolean) {
  const root = like?.root ?? (await issueAuthority())
  const signer = like?.signer ?? (await issue({ issuer: root }))
  const anchor = anchorOf(root)
  const context: StatusContext = {
    format: 'dc+sd-jwt',
    anchors: new AnchorIndex([anchor]),
    environment: 'test',
    anchor,
    path: [],
    crls: createCrlChecker(
      async () => ({ ok: false, reason: 'it did not answer' }),
      () => now,
    ),
    type: PID,
    session: 'one',
  }
  const fetches: string[] = []
  let now = NOW
  let answer: Awaited<ReturnType<FetchStatus>> = { ok: false, reason: 'it did not answer' }
  const fetchStatus: FetchStatus = async (uri, { accept }) => {
    fetches.push(`${uri} ${accept}`)
    await Bun.sleep(0)
    return answer
  }
  const checker = createStatusChecker(fetchStatus, () => now, allowHttp && { allowHttp })

  return {
    root,
    signer,
    anchor,
    context,
    fetches,
    advance(ms: number) {
      now += ms
    },
    serve(body: string | Uint8Array | undefined, contentType = JWT) {
      answer =
        body === undefined ? { ok: false, reason: 'it did not answer' } : { ok: true, contentType, body: Buffer.from(body) }
    },
    async findings(reference: Reference, over: Partial<StatusContext> = {}) {
      const findings = new Findings(() => now)
      const wanted = typeof reference === 'number' ? { uri: URI, index: reference } : reference
      const references = typeof wanted === 'object' ? [wanted] : wanted
      await checker.check(findings, references, { ...context, ...over })
      return findings.all
    },
    async check(reference: Reference, over: Partial<StatusContext> = {}): Promise<string> {
      const [finding, ...others] = await this.findings(reference, over)
      if (!finding || others.length > 0 || finding.check !== 'status')
        throw new Error('exactly one finding on the status was expected')
      return finding.status === 'pass' ? 'pass' : `${finding.failure ?? finding.status}: ${finding.detail}`
    },
    jwt: (sent: Sent) => makeJwt(signer, sent),
    cwt: (sent: SentCwt) => makeCwt(signer, sent),
  }
}

/** A world whose server has a list. */
async function serving(sent: Sent = {}) {
  const world = await makeWorld()
  world.serve(await world.jwt(sent), sent.contentType)
  return world
}

async function makeJwt(usual: Issued, { signer = usual, header, claims, bits = 1, statuses, lst, body, payload, suffix }: Sent) {
  if (body !== undefined) return body
  const list = { bits, lst: (lst ?? deflateSync(statuses ?? Uint8Array.of(0))).toString('base64url') }
  const usualClaims = { sub: URI, iat: NOW / SECOND - 60, exp: NOW / SECOND + 86_400, ttl: 3600, status_list: list }
  const text = payload ?? JSON.stringify({ ...usualClaims, ...claims })
  const protectedHeader = { alg: 'ES256', typ: 'statuslist+jwt', x5c: [Buffer.from(signer.der).toString('base64')], ...header }
  const { crit, ...rest } = protectedHeader as typeof protectedHeader & { crit?: string[] }
  // The library writes no other unknown critical header.
  const signed = new CompactSign(Buffer.from(text)).setProtectedHeader(crit ? { ...rest, crit, b64: true } : rest)
  return `${await signed.sign(signer.keys.privateKey)}${suffix ?? ''}`
}

const encoder = new Encoder({ mapsAsObjects: false, useRecords: false, tagUint8Array: false })
const encode = (value: unknown): Uint8Array => Uint8Array.from(encoder.encode(value))

async function makeCwt(signer: Issued, sent: SentCwt): Promise<Uint8Array> {
  const { statuses = Uint8Array.of(0), isChainProtected = false, isTagged = true, hasChain = true } = sent
  const list = new Map<string, unknown>([
    ['bits', 1],
    ['lst', deflateSync(statuses)],
  ])
  const claims = new Map<number, unknown>([
    [2, URI],
    [6, NOW / SECOND - 60],
    [4, NOW / SECOND + 86_400],
    [65534, 3600],
    [65533, list],
    ...(sent.claims ?? []),
  ])
  const chain: [number, unknown][] = hasChain ? [[33, Buffer.from(signer.der)]] : []
  const typ = 'typ' in sent ? sent.typ : CWT
  const protectedBytes = encode(
    new Map<number, unknown>([[1, -7], ...(typ ? [[16, typ] as [number, unknown]] : []), ...(isChainProtected ? chain : [])]),
  )
  const payload = encode(new Map([...claims].filter(([, value]) => value !== undefined)))
  const signedBytes = encode(['Signature1', Buffer.from(protectedBytes), Buffer.alloc(0), Buffer.from(payload)])
  const signing = { name: 'ECDSA', hash: 'SHA-256' }
  const signature = Buffer.from(await crypto.subtle.sign(signing, signer.keys.privateKey, Uint8Array.from(signedBytes)))
  if (sent.isForged) signature[0] = (signature[0] ?? 0) ^ 1
  const parts = [Buffer.from(protectedBytes), new Map(isChainProtected ? [] : chain), Buffer.from(payload), signature]
  const sign1 = isTagged ? new Tag(parts, 18) : parts
  return Buffer.concat([encode(sent.isCwtTagged ? new Tag(sign1, 61) : sign1), sent.suffix ?? new Uint8Array()])
}
