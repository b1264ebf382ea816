// Lists of revoked identifiers (ISO/IEC 18013-5, second edition, § 12.3.6), and who may sign a document's lists.
import { describe, expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import { sha256Hex } from '../../src/base/hash.ts'
import { parseCbor } from '../../src/openid4vp/cbor/cbor.ts'
import type { StatusReference } from '../../src/openid4vp/credential.ts'
import { Findings } from '../../src/openid4vp/finding.ts'
import { readStatus } from '../../src/openid4vp/mdoc/issuer.ts'
import { createStatusChecker, type StatusContext } from '../../src/openid4vp/status/list.ts'
import type { FetchStatus } from '../../src/openid4vp/status/read-list.ts'
import { AnchorIndex } from '../../src/openid4vp/trust/anchor-index.ts'
import { createCrlChecker } from '../../src/openid4vp/trust/crl-check.ts'
import { readIdentifiersInThread } from '../../src/trust-lists/read-in-thread.ts'
import { anchorOf } from '../helpers/anchors.ts'
import { crlPoint, DAY_MS, type Issued, issue, issueAuthority, makeKeys, NOW } from '../helpers/certificates.ts'
import { cbor, head, hex, Raw, Tagged } from '../helpers/mdoc.ts'

const URI = 'https://issuer.example/identifiers/1'
const STATUS_URI = 'https://issuer.example/status/1'
const MDL = 'org.iso.18013.5.1.mDL'
const TYPE = 'application/identifierlist+cwt'
const SECONDS = NOW / 1000
const PRESENT = hex('cccc')
const ABSENT = hex('cc')

const root = await issueAuthority()
const signer = await issue({ issuer: root })
const otherRoot = await issueAuthority({ name: 'CN=Other Root' })
const otherSigner = await issue({ name: 'CN=Other Signer', issuer: otherRoot })

describe('the example of ISO/IEC 18013-5 D.6', () => {
  test('the claims have the bytes of the example, and the list reads them', async () => {
    const claims = exampleClaims()
    expect([claims.length, sha256Hex(claims)]).toEqual([155, '38bb5fae20adec8014228d4e8ac5208949afd947836ae51ac653ed1e3b42c8b3'])
    const uri = 'https://example.com/identifierlists/1'
    const outcomes = await Promise.all(
      ['abcd', 'aaaa', 'cccc', 'abcc'].map(id => outcomeOf({ uri, id: hex(id) }, { [uri]: { payload: claims } })),
    )
    expect(outcomes.map(outcome => outcome.split(':')[0])).toEqual([...Array(3).fill('credential_revoked'), 'pass'])
  })

  test('its reference is read from the document', () => {
    const status =
      'a16f6964656e7469666965725f6c697374a262696442cccc63757269782568747470733a2f2f6578616d706c652e636f6d2f6964656e7469666965726c697374732f31'
    expect(readStatus(parseCbor(hex(status)))).toEqual([{ uri: 'https://example.com/identifierlists/1', id: PRESENT }])
  })

  function exampleClaims(): Uint8Array {
    const identifiers = new Map(['abcd', 'aaaa', 'cccc'].map(id => [hex(id), new Map()]))
    const list = new Map<string, unknown>([
      ['identifiers', identifiers],
      ['aggregation_uri', 'https://example.com/identifierlists/aggregation'],
    ])
    return cbor(
      new Map<number, unknown>([
        [2, 'https://example.com/identifierlists/1'],
        [4, 2291720170],
        [6, 1686920170],
        [65534, 86400],
        [65530, list],
      ]),
    )
  }
})

describe('a list of identifiers', () => {
  const cases: [string, List, string | undefined][] = [
    ['is accepted as it should be', {}, undefined],
    ['may have the tag of a CWT', { tags: [61, 18] }, undefined],
    ['has the tag of its signature', { tags: [] }, 'is not one'],
    ['has the tag of its signature behind that of a CWT', { tags: [61] }, 'is not one'],
    ['may have the short typ of the example', { typ: 'identifierlist+cwt' }, undefined],
    ['has not the typ of a status list', { typ: 'application/statuslist+cwt' }, 'is not one'],
    ['has a typ', { typ: undefined }, 'is not one'],
    ['has its certificates protected', { isChainProtected: false }, 'is not one'],
    ['has an exp', { claims: { 4: undefined } }, 'is not one'],
    ['is over at its exp', { claims: { 4: SECONDS } }, 'has expired'],
    ['has an iat', { claims: { 6: undefined } }, 'is not one'],
    ['may have no ttl', { claims: { 65534: undefined } }, undefined],
    ['does not count before its nbf', { claims: { 5: SECONDS + 61 } }, 'dated in the future'],
    ['is made for the address it was fetched from', { claims: { 2: `${URI}2` } }, 'another address'],
    ['has no status list beside', { claims: { 65533: new Map([['bits', 1]]) } }, 'is not one'],
    ['has identifiers', { claims: { 65530: new Map() } }, 'is not one'],
    ['has identifiers with a map each', { identifiers: [[ABSENT, 1]] as never }, 'is not one'],
    ['has identifiers that are byte strings', { identifiers: [['cccc', new Map()]] as never }, 'is not one'],
    ['has no identifier twice', { identifiers: [...entries(hex('aa')), ...entries(hex('aa'))] }, 'is not one'],
    ['may say more of an identifier', { identifiers: [[hex('aa'), new Map([['reason', 1]])]] }, undefined],
    ['may be empty', { identifiers: [] }, undefined],
    ['may have 100,000 entries', { identifiers: numbered(100_000) }, undefined],
    ['has no more than 100,000 entries', { identifiers: numbered(100_001) }, 'it is too large'],
    ['has at most 4 MiB', { body: new Uint8Array(4 * 1024 * 1024 + 1) }, 'it is too large'],
    ['has a valid signature', { isForged: true }, 'signature of the issuer'],
    ['is found under its content type', { type: 'application/statuslist+cwt' }, 'is not one'],
  ]
  test.each(cases)('a list of identifiers %s', async (_, list, fault) => {
    const outcome = await outcomeOf({ uri: URI, id: ABSENT }, { [URI]: list })
    if (fault === undefined) return expect(outcome).toBe('pass')
    expect(outcome).toStartWith('status_unknown: ')
    expect(outcome).toContain(fault)
  })

  test('an identifier on the list is revoked, also one of 64 bytes', async () => {
    const long = new Uint8Array(64).fill(7)
    const list = { identifiers: entries(PRESENT, long) }
    for (const id of [PRESENT, long])
      expect(await outcomeOf({ uri: URI, id }, { [URI]: list })).toBe(
        'credential_revoked: The issuer has revoked this credential.',
      )
    expect(await outcomeOf({ uri: URI, id: long.subarray(1) }, { [URI]: list })).toBe('pass')
  })

  test('a list is read in a thread as it is here', async () => {
    const body = await cwt(signer, URI, { identifiers: numbered(20_000) })
    const { list, uri, chain } = await readIdentifiersInThread(body)
    expect([uri, list.digests.length, chain]).toEqual([URI, 20_000 * 16, [signer.der]])
    const fault = await readIdentifiersInThread(body.subarray(0, -1)).catch((error: Error) => error.message)
    expect(fault).toContain('is not one')
  })

  test('a list of another key than the certificate is refused', async () => {
    const forged: Issued = { ...signer, keys: await makeKeys() }
    expect(await outcomeOf({ uri: URI, id: ABSENT }, { [URI]: { by: forged } })).toContain('signature of the issuer')
  })
})

describe('a document with both mechanisms', () => {
  const both: StatusReference[] = [
    { uri: STATUS_URI, index: 0 },
    { uri: URI, id: PRESENT },
  ]
  const [valid, revoked] = [Uint8Array.of(0), Uint8Array.of(1)]

  test.each([
    ['valid in both passes', valid, [], 'pass'],
    ['revoked by its index is revoked', revoked, [], 'credential_revoked'],
    ['revoked by its identifier is revoked', valid, entries(PRESENT), 'credential_revoked'],
  ])('a document that is %s', async (_, statuses, identifiers, outcome) => {
    expect(await outcomeOf(both, { [STATUS_URI]: { statuses }, [URI]: { identifiers } })).toStartWith(outcome)
  })

  test('a document is status_unknown while one of its lists cannot be read, and revoked if the other says so', async () => {
    expect(await outcomeOf(both, { [STATUS_URI]: { statuses: valid } })).toStartWith('status_unknown')
    expect(await outcomeOf(both, { [URI]: { identifiers: [] } })).toStartWith('status_unknown')
    const findings = await findingsOf(both, { [URI]: { identifiers: entries(PRESENT) } })
    expect(findings.failures.sort()).toEqual(['credential_revoked', 'status_unknown'])
  })
})

describe('the certificate that a document names for its list', () => {
  const named = { uri: URI, id: ABSENT, certificate: otherRoot.der }

  test('a list is good below that certificate, or signed by it, and not below the issuer of the document', async () => {
    expect(await outcomeOf(named, { [URI]: { by: otherSigner } })).toBe('pass')
    expect(await outcomeOf({ ...named, certificate: otherSigner.der }, { [URI]: { by: otherSigner } })).toBe('pass')
    expect(await outcomeOf(named, { [URI]: { by: signer } })).toContain('the certificate that the document names for it')
    expect(await outcomeOf({ ...named, certificate: root.der }, { [URI]: { by: signer } })).toBe('pass')
  })

  test("the certificate of one document does not count for another's list", async () => {
    const lists = { [URI]: { by: otherSigner } }
    const { check } = checkerOf(lists)
    expect((await check([named])).failures).toEqual([])
    const other = await check([{ uri: URI, id: ABSENT }])
    expect(other.all.at(-1)?.detail).toContain('signed by someone you do not trust')
  })

  test('a certificate that is blocked, over or unreadable does not count', async () => {
    const lists = { [URI]: { by: otherSigner } }
    const blocked = new AnchorIndex([anchorOf(root)], new Set([sha256Hex(otherRoot.der)]))
    expect(await outcomeOf(named, lists, { anchors: blocked })).toStartWith('status_unknown')
    const over = await issueAuthority({ name: 'CN=Over', notAfter: NOW - DAY_MS })
    const byOver = await issue({ name: 'CN=By Over', issuer: over })
    expect(await outcomeOf({ ...named, certificate: over.der }, { [URI]: { by: byOver } })).toStartWith('status_unknown')
    for (const certificate of [new Uint8Array(0), otherRoot.der.subarray(1), new Uint8Array(8193)])
      expect(await outcomeOf({ ...named, certificate }, lists)).toContain('cannot be read')
  })

  test("the anchor of the document says what an unread revocation list of the list's signer does", async () => {
    const withCrl = await issue({ name: 'CN=With CRL', issuer: otherRoot, extensions: [crlPoint()] })
    const lists = { [URI]: { by: withCrl } }
    const require = anchorOf(root, { crl: 'require' })
    expect(await outcomeOf(named, lists, { anchor: require })).toContain('revocation list for the signer of the status list')
    const findings = await findingsOf([named], lists, { anchor: anchorOf(root, { crl: 'off' }) })
    expect(findings.all.map(({ status }) => status)).toEqual(['pass'])
  })

  test('a status list may have a certificate as well', async () => {
    const reference = { uri: STATUS_URI, index: 0, certificate: otherRoot.der }
    const lists = (by: Issued) => ({ [STATUS_URI]: { by, statuses: Uint8Array.of(0) } })
    expect(await outcomeOf(reference, lists(otherSigner))).toBe('pass')
    expect(await outcomeOf(reference, lists(signer))).toContain('the document names for it')
  })
})

test('a licence whose status list has several bits for each is good, with a warning', async () => {
  const lists = { [STATUS_URI]: { bits: 2, statuses: Uint8Array.of(0) } }
  const warned = await findingsOf([{ uri: STATUS_URI, index: 0 }], lists)
  expect(warned.all.map(({ status }) => status)).toEqual(['warning', 'pass'])
  const other = await findingsOf([{ uri: STATUS_URI, index: 0 }], lists, { type: 'eu.europa.ec.eudi.pid.1' })
  expect(other.all.map(({ status }) => status)).toEqual(['pass'])
})

type List = {
  by?: Issued
  type?: string
  body?: Uint8Array
  /** Of a status list. */
  statuses?: Uint8Array
  bits?: number
  /** Of a list of identifiers. */
  payload?: Uint8Array
  identifiers?: [Uint8Array, Map<string, unknown>][]
  claims?: Record<number, unknown>
  typ?: string | undefined
  tags?: number[]
  isChainProtected?: boolean
  isForged?: boolean
}

function entries(...ids: Uint8Array[]): [Uint8Array, Map<string, unknown>][] {
  return ids.map(id => [id, new Map()])
}

function numbered(count: number): [Uint8Array, Map<string, unknown>][] {
  return entries(...Array.from({ length: count }, (_, index) => hex((index + 2 ** 24).toString(16).padStart(8, '0'))))
}

async function findingsOf(
  references: StatusReference[],
  lists: Record<string, List>,
  over: Partial<StatusContext> = {},
): Promise<Findings> {
  return await checkerOf(lists).check(references, over)
}

async function outcomeOf(
  reference: StatusReference | StatusReference[],
  lists: Record<string, List>,
  over?: Partial<StatusContext>,
): Promise<string> {
  const { all } = await findingsOf([reference].flat(), lists, over)
  const failed = all.find(({ status }) => status === 'fail')
  return failed ? `${failed.failure}: ${failed.detail}` : all.map(({ status }) => status).join(' ')
}

/** A checker whose network has these lists. */
function checkerOf(lists: Record<string, List>) {
  const fetchStatus: FetchStatus = async (uri, { accept }) => {
    const list = lists[uri]
    if (!list) return { ok: false, reason: 'it did not answer' }
    if (list.body) return { ok: true, contentType: TYPE, body: list.body }
    const isStatus = list.statuses !== undefined
    expect(accept).toStartWith(isStatus ? 'application/statuslist+cwt' : TYPE)
    const body = await cwt(list.by ?? signer, uri, list)
    return { ok: true, contentType: list.type ?? (isStatus ? 'application/statuslist+cwt' : TYPE), body }
  }
  const now = () => NOW
  const anchor = anchorOf(root)
  const context: StatusContext = {
    format: 'mso_mdoc',
    anchors: new AnchorIndex([anchor]),
    environment: 'test',
    anchor,
    path: [],
    crls: createCrlChecker(async () => ({ ok: false, reason: 'it did not answer' }), now),
    type: MDL,
    session: 'one',
  }
  const checker = createStatusChecker(fetchStatus, now)
  return {
    async check(references: StatusReference[], over: Partial<StatusContext> = {}) {
      const findings = new Findings(now)
      await checker.check(findings, references, { ...context, ...over })
      return findings
    },
  }
}

async function cwt(by: Issued, uri: string, list: List): Promise<Uint8Array> {
  const { statuses, bits = 1, isChainProtected = true, tags = [18] } = list
  const isStatus = statuses !== undefined
  const usual = {
    2: uri,
    4: SECONDS + 86_400,
    6: SECONDS - 60,
    65534: 3600,
    ...(statuses
      ? { 65533: new Map<string, unknown>(Object.entries({ bits, lst: deflateSync(statuses) })) }
      : { 65530: new Map([['identifiers', rawMap(list.identifiers ?? entries(hex('aaaa'), PRESENT))]]) }),
    ...list.claims,
  }
  const claims = Object.entries(usual).filter(([, value]) => value !== undefined)
  const payload = list.payload ?? cbor(new Map(claims.map(([key, value]) => [Number(key), value])))
  const chain: [number, unknown][] = [[33, Buffer.from(by.der)]]
  const usualTyp = isStatus ? 'application/statuslist+cwt' : TYPE
  const typ = 'typ' in list ? list.typ : usualTyp
  const header = cbor(
    new Map<number, unknown>([
      [1, -7],
      ...(typ === undefined ? [] : [[16, typ] as [number, unknown]]),
      ...(isChainProtected ? chain : []),
    ]),
  )
  const signed = cbor(['Signature1', Buffer.from(header), Buffer.alloc(0), Buffer.from(payload)])
  const signing = { name: 'ECDSA', hash: 'SHA-256' }
  const signature = Buffer.from(await crypto.subtle.sign(signing, by.keys.privateKey, Uint8Array.from(signed)))
  if (list.isForged) signature[0] = (signature[0] ?? 0) ^ 1
  const sign1 = [Buffer.from(header), new Map(isChainProtected ? [] : chain), Buffer.from(payload), signature]
  return cbor(tags.reduceRight<unknown>((item, tag) => new Tagged(tag, item), sign1))
}

/** A key may be in it twice. */
const rawMap = (members: [Uint8Array, unknown][]): Raw =>
  new Raw(Buffer.concat([head(5, members.length), ...members.flatMap(([key, value]) => [cbor(key), cbor(value)])]))
