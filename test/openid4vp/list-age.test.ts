// The age of an issuer's list when no newer one can be had, and the lists that outlive the process.
import { describe, expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import { CompactSign } from 'jose'
import { Findings } from '../../src/openid4vp/finding.ts'
import { createStatusChecker, type StatusContext } from '../../src/openid4vp/status/list.ts'
import type { FetchStatus } from '../../src/openid4vp/status/read-list.ts'
import { AnchorIndex } from '../../src/openid4vp/trust/anchor-index.ts'
import { createCrlChecker } from '../../src/openid4vp/trust/crl-check.ts'
import type { ListBytes, Shelf } from '../../src/openid4vp/trust/list-cache.ts'
import { describeCertificate } from '../../src/openid4vp/x509/x509.ts'
import { anchorOf } from '../helpers/anchors.ts'
import { until } from '../helpers/app.ts'
import { crlPoint, DAY_MS, issue, issueAuthority, makeCrl, NOW } from '../helpers/certificates.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
const URI = 'https://issuer.example/status/1'
const JWT = 'application/statuslist+jwt'
const UNREACHED = { ok: false, reason: 'it did not answer' } as const
const [VALID, REVOKED, SUSPENDED] = [0, 1, 2]

const root = await issueAuthority()
const signer = await issue({ issuer: root })

type Wish = { at?: number; exp?: number; ttl?: number; status?: number }

async function listOf({ at = NOW, exp = NOW + 2 * DAY_MS, ttl = HOUR, status = VALID }: Wish): Promise<Uint8Array> {
  const lst = deflateSync(Uint8Array.of(status ?? 0)).toString('base64url')
  const claims = { sub: URI, iat: at / 1000, exp: exp / 1000, ttl: ttl / 1000, status_list: { bits: 2, lst } }
  const header = { alg: 'ES256', typ: 'statuslist+jwt', x5c: [Buffer.from(signer.der).toString('base64')] }
  return Buffer.from(
    await new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(signer.keys.privateKey),
  )
}

/** A shelf as the database is one, but without the rule of two sessions. */
function shelf(...lists: ListBytes[]): Shelf & { lists: ListBytes[] } {
  return {
    lists,
    find: async (uri, media) =>
      lists
        .filter(list => list.uri === uri && media.includes(list.media))
        .sort((a, b) => b.issuedAt - a.issuedAt)
        .at(0),
    use: async list => void lists.push(list),
  }
}

function makeWorld({ maxAgeMs = 0, kept }: { maxAgeMs?: number; kept?: Shelf } = {}) {
  let now = NOW
  let answer: () => ReturnType<FetchStatus> = async () => UNREACHED
  const fetches: number[] = []
  const stale: ListBytes[] = []
  const anchor = anchorOf(root)
  const context: StatusContext = {
    format: 'dc+sd-jwt',
    anchors: new AnchorIndex([anchor]),
    environment: 'live',
    anchor,
    path: [],
    crls: createCrlChecker(
      async () => UNREACHED,
      () => now,
    ),
    type: 'urn:eudi:pid:1',
    session: 'one',
  }
  const checker = createStatusChecker(
    async () => {
      fetches.push(now)
      return await answer()
    },
    () => now,
    { maxAgeMs, shelf: kept, onStale: list => void stale.push(list) },
  )
  return {
    fetches,
    stale,
    checker,
    advance(ms: number) {
      now += ms
    },
    answer(given: typeof answer) {
      answer = given
    },
    async serve(wish: Wish | undefined) {
      const body = wish && (await listOf(wish))
      answer = async () => (body ? { ok: true, contentType: JWT, body } : UNREACHED)
    },
    async check(): Promise<string> {
      const findings = new Findings(() => now)
      await checker.check(findings, [{ uri: URI, index: 0 }], context)
      return findings.all
        .map(({ status, failure, detail, list }) =>
          [failure ?? status, detail, list && `${list.from} ${new Date(list.asOf).toISOString()}`].filter(Boolean).join(': '),
        )
        .join(' | ')
    },
  }
}

type World = ReturnType<typeof makeWorld>

/** A list that was good at NOW, whose host is gone since. */
async function stale(world: World, wish: Wish, ageMs: number): Promise<string> {
  await world.serve(wish)
  await world.check()
  await world.serve(undefined)
  world.advance(ageMs)
  return await world.check()
}

const FAILED = "status_unknown: The issuer's status list could not be fetched: it did not answer. Try again later."
const tooOld = (time: string, hours: number) =>
  `status_unknown: The issuer's list could not be fetched, and the one of ${time} is older than this service allows (${hours} h).`

describe('a list that cannot be fetched again', () => {
  test.each([
    ['is not used where VIDIMUS_STATUS_MAX_AGE is 0', 0, {}, 2 * HOUR, FAILED],
    [
      'is used within the greatest age, with a warning',
      24 * HOUR,
      {},
      24 * HOUR,
      "warning: Checked against the issuer's list as of 2026-11-15 00:00 UTC; a newer one could not be fetched.: fetched 2026-11-15T00:00:00.000Z | pass",
    ],
    ['is not used beyond the greatest age', 24 * HOUR, {}, 24 * HOUR + 1, tooOld('2026-11-15 00:00 UTC', 24)],
    ['is never used from its exp on', 24 * HOUR, { exp: NOW + 3 * HOUR }, 3 * HOUR, FAILED],
    [
      'still says revoked beyond the greatest age',
      HOUR,
      { status: REVOKED },
      24 * HOUR,
      'credential_revoked: The issuer has revoked this credential.',
    ],
    [
      'still says revoked where VIDIMUS_STATUS_MAX_AGE is 0',
      0,
      { status: REVOKED },
      2 * HOUR,
      'credential_revoked: The issuer has revoked this credential.',
    ],
    ['no longer says revoked from its exp on', 0, { status: REVOKED, exp: NOW + 3 * HOUR }, 3 * HOUR, FAILED],
    [
      'no longer says suspended beyond the greatest age',
      HOUR,
      { status: SUSPENDED },
      2 * HOUR,
      tooOld('2026-11-15 00:00 UTC', 1),
    ],
  ] as [string, number, Wish, number, string][])(
    'a list that cannot be fetched again %s',
    async (_, maxAgeMs, wish, ageMs, outcome) => {
      expect(await stale(makeWorld({ maxAgeMs }), wish, ageMs)).toBe(outcome)
    },
  )

  test('a list that cannot be fetched again says suspended within the greatest age', async () => {
    const outcome = await stale(makeWorld({ maxAgeMs: 24 * HOUR }), { status: SUSPENDED }, 2 * HOUR)
    expect(outcome).toEndWith('credential_revoked: The issuer has suspended this credential for now.')
  })

  test('the age of a list that its issuer signs once a week counts from its fetch', async () => {
    const world = makeWorld({ maxAgeMs: 2 * HOUR })
    expect(await stale(world, { at: NOW - 6 * DAY_MS }, 2 * HOUR)).toEndWith('pass')
    world.advance(MINUTE)
    expect(await world.check()).toStartWith('status_unknown')
    expect(world.stale).toHaveLength(1)
    expect(world.checker.oldestMs()).toBe(2 * HOUR + MINUTE)
  })

  test('a list that cannot be fetched again answers at once for a minute, while one attempt runs behind', async () => {
    const world = makeWorld({ maxAgeMs: 24 * HOUR })
    await stale(world, {}, 2 * HOUR)
    expect(world.fetches).toHaveLength(2)
    world.advance(10_000)
    const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<FetchStatus>>>()
    world.answer(() => promise)
    for (const outcome of await Promise.all([world.check(), world.check()])) expect(outcome).toContain('as of')
    expect(world.fetches).toHaveLength(3)
    resolve({ ok: true, contentType: JWT, body: await listOf({ at: NOW + HOUR }) })
    await until(async () => (await world.check()) === 'pass')
    expect(world.fetches).toHaveLength(3)
  })

  test('a list that is older than the known one is not taken, and the known one counts as stale', async () => {
    const world = makeWorld({ maxAgeMs: 24 * HOUR })
    await world.serve({})
    await world.check()
    world.advance(2 * HOUR)
    await world.serve({ at: NOW - HOUR, status: REVOKED })
    expect(await world.check()).toEndWith('pass')
    expect(world.stale).toHaveLength(1)
  })
})

describe('a list on the shelf', () => {
  const row = async (wish: Wish, over: Partial<ListBytes> = {}): Promise<ListBytes> => ({
    ...{ uri: URI, media: 'statuslist+jwt', bytes: await listOf(wish) },
    ...{ issuedAt: wish.at ?? NOW, endsAt: NOW + 2 * DAY_MS, ttlMs: HOUR, fetchedAt: NOW, from: 'fetched' },
    ...over,
  })

  test('a list that was fetched within its ttl needs no fetch', async () => {
    const world = makeWorld({ kept: shelf(await row({})) })
    world.advance(HOUR - 1)
    expect(await world.check()).toBe('pass')
    expect(world.fetches).toEqual([])
    world.advance(1)
    expect(await world.check()).toBe(FAILED)
  })

  test('a list from a bundle is used only where none can be fetched', async () => {
    const kept = shelf(await row({ status: SUSPENDED }, { from: 'bundle' }))
    const world = makeWorld({ maxAgeMs: HOUR, kept })
    expect(await world.check()).toContain('suspended')
    expect(world.stale[0]?.from).toBe('bundle')
    await world.serve({ at: NOW + 1000 })
    world.advance(10_000)
    // The answer to this one is the older list: the attempt runs behind.
    expect(await world.check()).toContain('suspended')
    await until(async () => (await world.check()) === 'pass')
  })

  test('a newer list that another process stored is found when the memory is stale', async () => {
    const kept = shelf(await row({}))
    const world = makeWorld({ maxAgeMs: 24 * HOUR, kept })
    await world.check()
    world.advance(2 * HOUR)
    kept.lists.push(await row({ at: NOW + HOUR, status: REVOKED }, { fetchedAt: NOW + HOUR + MINUTE }))
    expect(await world.check()).toStartWith('credential_revoked')
    expect(world.fetches).toEqual([])
  })

  test('a list on the shelf that was changed, or is for another address, is as good as none', async () => {
    const good = await row({})
    const forged = { ...good, bytes: Buffer.from(good.bytes).fill(65, good.bytes.length - 8) }
    expect(await makeWorld({ maxAgeMs: HOUR, kept: shelf(forged) }).check()).toBe(FAILED)
  })

  test('a list that nobody trusted signed is not put on the shelf', async () => {
    const kept = shelf()
    const world = makeWorld({ kept })
    const other = await issue({ name: 'CN=Other' })
    const lst = deflateSync(Uint8Array.of(0)).toString('base64url')
    const claims = { sub: URI, iat: NOW / 1000, status_list: { bits: 1, lst } }
    const header = { alg: 'ES256', typ: 'statuslist+jwt', x5c: [Buffer.from(other.der).toString('base64')] }
    const body = await new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(other.keys.privateKey)
    world.answer(async () => ({ ok: true, contentType: JWT, body: Buffer.from(body) }))
    expect(await world.check()).toContain('you do not trust')
    expect(kept.lists).toEqual([])
    // Nor does it stand in the way of a good one with an earlier date.
    await world.serve({ at: NOW - HOUR })
    world.advance(10_000)
    expect(await world.check()).toBe('pass')
    expect(kept.lists).toHaveLength(1)
  })

  test("an authority's list on the shelf counts until its next update, and not for another authority", async () => {
    const leaf = await issue({ issuer: root, extensions: [crlPoint()] })
    const uri = 'https://issuer.example/crl'
    const bytes = await makeCrl(root, { nextUpdate: NOW + DAY_MS })
    const list: ListBytes = {
      ...{ uri, media: 'crl', bytes, issuedAt: NOW - DAY_MS, endsAt: NOW + DAY_MS },
      ...{ ttlMs: DAY_MS, fetchedAt: NOW - DAY_MS, from: 'bundle' },
    }
    const path = [leaf, root].map(({ der }) => describeCertificate(der)!)
    let now = NOW
    const outcome = async (by = root) => {
      const crls = createCrlChecker(
        async () => UNREACHED,
        () => now,
        { shelf: shelf({ ...list, bytes: await makeCrl(by, { nextUpdate: NOW + DAY_MS }) }) },
      )
      const findings = new Findings(() => now)
      await crls.check(findings, path, 'require', { session: 'one' })
      return findings.failures.join()
    }
    expect(await outcome()).toBe('')
    expect(await outcome(await issueAuthority())).toBe('issuer_status_unknown')
    now = NOW + DAY_MS
    expect(await outcome()).toBe('issuer_status_unknown')
  })
})
