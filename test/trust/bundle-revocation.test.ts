// Lists of revoked documents on their way to a venue without internet.
import { afterAll, expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import { staleListDetail } from '../../src/base/stale-list.ts'
import { isoUtc } from '../../src/base/time.ts'
import { signJwt } from '../../src/sandbox/es256.ts'
import { exportBundle } from '../../src/trust/bundle/export.ts'
import { bundleSignerOf, openBundle, signBundle } from '../../src/trust/bundle/form.ts'
import { importBundle } from '../../src/trust/bundle/import.ts'
import { store } from '../../src/trust/status/kept-lists.ts'
import { findList } from '../../src/trust/status/list-store.ts'
import { readLists } from '../../src/trust/status/refresh.ts'
import { cleanUp, NOON, openInstallation, startApp } from '../helpers/app.ts'
import { makeCrl } from '../helpers/certificates.ts'
import { presentBy, verdictOf } from '../helpers/exchange.ts'
import { forgeSigner, newRoot, trust } from '../helpers/forger.ts'
import { holderOfPidBy, PID_BODY } from '../helpers/listed-issuers.ts'

afterAll(cleanUp)

const HOUR = 3_600_000
const DAY = 24 * HOUR
const URI = 'https://issuer.example/status/1'
const CRL = 'http://issuer.example/crl'

const issuer = await forgeSigner()
const authority = await newRoot()
const seed = new Uint8Array(32).fill(7)

type Wish = { at?: number; exp?: number }

async function listOf({ at = NOON - HOUR, exp = NOON + 2 * DAY }: Wish = {}): Promise<Buffer> {
  const header = { typ: 'statuslist+jwt', x5c: issuer.chain.map(der => Buffer.from(der).toString('base64')) }
  const status_list = { bits: 1, lst: deflateSync(new Uint8Array(16)).toString('base64url') }
  return Buffer.from(await signJwt(issuer.key, header, { sub: URI, iat: at / 1000, exp: exp / 1000, ttl: 300, status_list }))
}

const item = (bytes: Uint8Array, over: object = {}) => ({
  ...{ uri: URI, media: 'statuslist+jwt' as const, fetched_at: isoUtc(NOON), bytes: Buffer.from(bytes).toString('base64') },
  ...over,
})

const bundleOf = (...revocation: ReturnType<typeof item>[]): Uint8Array =>
  signBundle(seed, { version: 1, made_at: isoUtc(NOON), made_by: 'office', sources: [], anchors: [], blocks: [], revocation })

const from = bundleSignerOf(seed)
const openVenue = () => openInstallation({ now: NOON + 6 * HOUR })

test('a venue imports the lists of the office, and its sessions say as of when they are', async () => {
  const office = await openInstallation()
  const bytes = await listOf()
  await office.deps.write(tx =>
    store(
      tx,
      office.deps,
      {
        ...{ uri: URI, media: 'statuslist+jwt', bytes, issuedAt: NOON - HOUR, endsAt: NOON + 2 * DAY },
        ...{ ttlMs: 300_000, fetchedAt: NOON, from: 'fetched' },
      },
      { mayInsert: true },
    ),
  )
  const exported = await exportBundle(office.deps, {}, 'test')
  expect([exported.revocation, exported.leftOut]).toEqual([1, []])

  const venue = await startApp({ now: NOON + 6 * HOUR, config: { statusMaxAgeMs: DAY, trustRefresh: false } })
  await trust(venue, issuer)
  const { key } = await venue.tenant()
  const { items } = await importBundle(venue.deps, exported.bytes, { from: exported.signer }, 'test')
  expect(items).toEqual([{ what: 'status', name: URI, outcome: 'added' }])
  const holder = await holderOfPidBy(issuer, { payload: { status: { status_list: { idx: 3, uri: URI } } } })
  const { verification } = await presentBy({ app: venue, key }, holder, { body: PID_BODY() })
  expect(verdictOf(verification).outcome).toBe('completed')
  expect(verification.credentials?.[0]?.findings).toMatchObject([
    { check: 'status', status: 'warning', detail: staleListDetail(NOON) },
  ])
  expect((await importBundle(venue.deps, exported.bytes, {}, 'test')).items).toMatchObject([{ outcome: 'unchanged' }])
})

test("an accepted signer is believed when a list was fetched; a stranger's list is as old as its issue", async () => {
  const bundle = bundleOf(item(await listOf()))
  const ageOf = async (options: object) => {
    const { deps } = await openVenue()
    expect((await importBundle(deps, bundle, options, 'test')).items).toMatchObject([{ outcome: 'added' }])
    const row = await findList(deps.db, URI, ['statuslist+jwt'])
    return [row?.fetchedAt, row?.from]
  }
  expect(await ageOf({ from })).toEqual([NOON, 'bundle'])
  expect(await ageOf({})).toEqual([NOON - HOUR, 'bundle'])
})

test('a bundle that was changed brings its lists as those of a stranger', async () => {
  const { deps } = await openVenue()
  await importBundle(deps, bundleOf(), { from }, 'test')
  const text = Buffer.from(bundleOf(item(await listOf()))).toString()
  const [head, payload, signature = ''] = text.trim().split('.')
  const changed = `${head}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  const { isSigned, items } = await importBundle(deps, Buffer.from(changed), {}, 'test')
  expect([isSigned, items[0]?.outcome]).toEqual([false, 'added'])
  expect((await findList(deps.db, URI, ['statuslist+jwt']))?.fetchedAt).toBe(NOON - HOUR)
})

test('a bundle replaces a list by a later issue only', async () => {
  const { deps } = await openVenue()
  const take = async (wish: Wish, fetchedAt = NOON) =>
    (await importBundle(deps, bundleOf(item(await listOf(wish), { fetched_at: isoUtc(fetchedAt) })), { from }, 'test')).items[0]
      ?.outcome
  expect(await take({ at: NOON - 2 * HOUR })).toBe('added')
  expect(await take({ at: NOON - HOUR })).toBe('accepted')
  expect(await take({ at: NOON - 2 * HOUR }, NOON + HOUR)).toBe('unchanged')
  // The same issue, fetched again later, is younger.
  expect(await take({ at: NOON - HOUR }, NOON + HOUR)).toBe('accepted')
  const [row] = await readLists(deps)
  expect([row?.issuedAt, row?.fetchedAt]).toEqual([NOON - HOUR, NOON + HOUR])
})

test('a list that is forged, for another address, over, or of no authority here is refused, and the others are taken', async () => {
  const venue = await openVenue()
  await trust(venue as never, { root: authority.der })
  const good = await listOf()
  const forged = Buffer.from(good)
  // Another character of base64url.
  forged[forged.length - 20] = forged[forged.length - 20] === 65 ? 66 : 65
  const dates = { thisUpdate: NOON - HOUR, nextUpdate: NOON + DAY }
  const crl = { uri: CRL, media: 'crl' as const }
  const { items } = await importBundle(
    venue.deps,
    bundleOf(
      item(forged),
      item(good, { uri: `${URI}/2` }),
      item(await listOf({ exp: NOON + HOUR })),
      item(await makeCrl(await newRoot(), dates), crl),
      item(await makeCrl(authority, dates), crl),
      item(good),
    ),
    { from },
    'test',
  )
  expect(items.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'refused', 'refused', 'added', 'added'])
  expect(items.map(({ detail }) => detail).slice(0, 4)).toEqual([
    expect.stringContaining('signature of the issuer'),
    expect.stringContaining('another address'),
    expect.stringContaining('has expired'),
    expect.stringContaining('no issuer that is trusted here has signed it'),
  ])
})

test('an export keeps to 16 MiB: the latest issues go along, and what found no room is named', async () => {
  const { deps } = await openInstallation()
  for (const [index, megabytes] of [4, 4, 4].entries())
    await deps.write(tx =>
      store(
        tx,
        deps,
        {
          ...{ uri: `https://issuer.example/${index}`, media: 'crl', bytes: Buffer.alloc(megabytes * 1024 * 1024, 1) },
          ...{ issuedAt: NOON - index * HOUR, endsAt: NOON + DAY, ttlMs: DAY, fetchedAt: NOON, from: 'fetched' },
        },
        { mayInsert: true },
      ),
    )
  const { bytes, leftOut } = await exportBundle(deps, {}, 'test')
  expect(bytes.length).toBeLessThanOrEqual(16 * 1024 * 1024)
  expect(leftOut).toEqual(['https://issuer.example/2'])
  expect(openBundle(bytes).content.revocation?.map(({ uri }) => uri)).toEqual([
    'https://issuer.example/0',
    'https://issuer.example/1',
  ])
})
