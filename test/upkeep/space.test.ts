// A disk that is full, and one that cannot be written: nothing new is created, everybody is served and erased, and it goes on by itself.
import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKey, revokeKey } from '../../src/access/keys.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { sweepRetention } from '../../src/verifications/erasure/retain.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, type ErrorBody, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { serve, stopServing, vidimus, vidimusJson } from '../helpers/cli.ts'
import { freeze, smallDisk, thaw, unmountAll } from '../helpers/crash/small-disk.ts'
import { invariantsOf, modeOf, namesIn, SOUND } from '../helpers/directories.ts'

afterAll(async () => {
  await stopServing()
  unmountAll()
})

const MIB = 1024 * 1024
const DAY_MS = 86_400_000

const create = (app: TestApp, key: string) =>
  app.call<Verification & ErrorBody>('POST', '/v1/verifications', {
    key,
    body: { template: 'age_over_18', metadata: { text: 'x'.repeat(400) } },
  })

/** Sixteen at a time, until one is refused; gives what was acknowledged and every refusal. */
async function createUntilFull(app: TestApp, key: string): Promise<{ ids: string[]; refusals: string[] }> {
  const ids: string[] = []
  const refusals: string[] = []
  const client = async () => {
    while (refusals.length === 0) {
      const { status, body } = await create(app, key)
      if (status === 201) ids.push(body.id)
      else refusals.push(`${status} ${body.error.code}`)
    }
  }
  await Promise.all(Array.from({ length: 16 }, client))
  return { ids, refusals }
}

async function readiness(app: TestApp): Promise<number> {
  // Its last answer is given again within a second.
  app.clock.advance(1000)
  return (await app.call('GET', '/readyz')).status
}

const statuses = async (app: TestApp, key: string, method: string, ids: string[], path = '') =>
  new Set(await Promise.all(ids.map(async id => (await app.call(method, `/v1/verifications/${id}${path}`, { key })).status)))

const eventsIn = (app: TestApp) => app.logs.map(line => JSON.parse(line).event)

describe('the reserve on the disk', () => {
  test('is a file for its owner only that takes real space, made when there is enough', async () => {
    const app = await startApp()
    expect(existsSync(join(app.dir, 'ballast'))).toBe(false)
    await app.deps.space.look()
    const { size, blocks } = statSync(join(app.dir, 'ballast'))
    expect(size).toBe(32 * MIB)
    expect(blocks * 512).toBeGreaterThanOrEqual(32 * MIB)
    expect(modeOf(join(app.dir, 'ballast'))).toBe('600')
  })

  test('does not hide a disk that fills up while it is made: creations are refused', async () => {
    const { deps } = await startApp()
    const looking = deps.space.look()
    deps.space.makeRoom()
    await looking
    expect(deps.space.isShort()).toBe(true)
    await deps.space.look()
    expect(deps.space.isShort()).toBe(false)
  })

  test('is given up when the database is full: creations are refused, the rest works, and it is made again later', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    await app.deps.space.look()
    const made = [await createVerification(app, key), await createVerification(app, key)]
    const writer = (app.deps.warm() as unknown as { $client: Database }).$client
    const pages = () => writer.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0
    writer.run(`PRAGMA max_page_count = ${pages() + 8}`)

    const { ids, refusals } = await createUntilFull(app, key)
    expect(new Set(refusals)).toEqual(new Set(['500 internal_error']))
    expect(existsSync(join(app.dir, 'ballast'))).toBe(false)
    // The room that the deleted file left to an erasure.
    writer.run(`PRAGMA max_page_count = ${pages() + 64}`)
    expect(await readiness(app)).toBe(503)
    expect(await statuses(app, key, 'GET', [...ids, made[0]!.id])).toEqual(new Set([200]))
    expect(await statuses(app, key, 'GET', ids, '/status')).toEqual(new Set([200]))
    expect(await statuses(app, key, 'DELETE', [made[0]!.id])).toEqual(new Set([200]))
    expect((await create(app, key)).status).toBe(500)
    expect(eventsIn(app).filter(event => event === 'disk.full')).toHaveLength(1)

    writer.run('PRAGMA max_page_count = 1073741823')
    await app.deps.space.look()
    expect((await create(app, key)).status).toBe(201)
    expect(await readiness(app)).toBe(200)
    expect(existsSync(join(app.dir, 'ballast'))).toBe(true)
    expect(eventsIn(app)).toContain('disk.room_again')
    await app.stop()
    expect(invariantsOf(join(app.dir, 'vidimus.db'))).toEqual(SOUND)
  })
})

const disk = smallDisk(400 * MIB)

describe('a full disk', () => {
  test.skipIf(!disk)(
    `${disk ? '' : 'SKIPPED, because nobody may mount a small one here: '}under load refuses creations only; erasing, revoking and sweeping go on, and so does everything when there is room`,
    async () => {
      const { dir, resize } = disk!
      const app = await startApp({ dir })
      const { id: tenantId, key } = await app.tenant({ name: 'Shop', retentionDays: 30 })
      const spare = await vidimusJson<{ id: string; key: string }>(dir, 'key', 'create', '--tenant', tenantId, '--env', 'test')
      await app.deps.space.look()
      expect(namesIn(dir)).toContain('ballast')
      expect(eventsIn(app)).not.toContain('disk.low')
      const old = [await createVerification(app, key), await createVerification(app, key)]
      app.clock.advance(40 * DAY_MS)
      const first = await createVerification(app, key)

      const { blocks, bfree, bsize } = statfsSync(dir)
      resize((blocks - bfree) * bsize + 3 * MIB)
      await app.deps.space.look()
      expect(eventsIn(app).filter(event => event === 'disk.low')).toHaveLength(1)
      const { ids, refusals } = await createUntilFull(app, key)
      expect(new Set(refusals)).toEqual(new Set(['500 internal_error']))
      expect(ids.length).toBeGreaterThan(50)
      expect(namesIn(dir)).not.toContain('ballast')

      expect(await readiness(app)).toBe(503)
      expect((await create(app, key)).status).toBe(500)
      expect(await statuses(app, key, 'GET', ids)).toEqual(new Set([200]))
      expect(await statuses(app, key, 'GET', ids, '/status')).toEqual(new Set([200]))
      const [gone, ...rest] = ids
      expect(await statuses(app, key, 'DELETE', [first.id, gone!])).toEqual(new Set([200]))
      expect(await statuses(app, key, 'GET', [first.id, gone!])).toEqual(new Set([404]))
      // From another process on the same disk.
      await vidimusJson(dir, 'key', 'revoke', spare.id)
      expect((await app.call('GET', '/v1/usage', { key: spare.key })).status).toBe(401)
      await sweepRetention(app.deps)
      expect(await statuses(app, key, 'GET', [old[0]!.id, old[1]!.id])).toEqual(new Set([404]))
      app.clock.advance(3_600_000)
      await sweepExpired(app.deps)

      // A little room is not enough: it would be full again at once.
      await app.deps.space.look()
      expect((await create(app, key)).status).toBe(500)
      resize(400 * MIB)
      await app.deps.space.look()
      expect((await create(app, key)).status).toBe(201)
      expect(await readiness(app)).toBe(200)
      expect(namesIn(dir)).toContain('ballast')
      expect(await statuses(app, key, 'GET', rest)).toEqual(new Set([200]))
      await app.stop()
      expect(invariantsOf(join(dir, 'vidimus.db'))).toEqual(SOUND)
    },
  )

  test.skipIf(!disk)(
    `${disk ? '' : 'SKIPPED, because nobody may mount a small one here: '}is known to a service that starts on it, and nothing is held back that is not there`,
    async () => {
      const small = smallDisk(20 * MIB)!
      const app = await startApp({ dir: small.dir })
      const { key } = await app.tenant()
      await app.deps.space.look()
      expect(namesIn(small.dir)).not.toContain('ballast')
      expect((await create(app, key)).status).toBe(500)
      expect(eventsIn(app)).toContain('disk.full')
      await app.stop()
    },
  )

  test.skipIf(!disk)(
    `${disk ? '' : 'SKIPPED, because nobody may mount a small one here: '}met first by an erasure, gives way to it`,
    async () => {
      const { app, key, fill } = await onFullDisk()
      const made = await Promise.all(Array.from({ length: 20 }, () => createVerification(app, key)))
      const ids = made.map(({ id }) => id)
      fill()
      expect(await statuses(app, key, 'DELETE', ids)).toEqual(new Set([200]))
      expect(await statuses(app, key, 'GET', ids)).toEqual(new Set([404]))
      expect(namesIn(app.dir)).not.toContain('ballast')
      await app.stop()
    },
  )

  test.skipIf(!disk)(
    `${disk ? '' : 'SKIPPED, because nobody may mount a small one here: '}met first by a revocation, of a command or of the service, gives way to it`,
    async () => {
      for (const by of ['command', 'service']) {
        const { app, tenantId, key, fill } = await onFullDisk()
        const { row, key: lost } = await createKey(app.deps, {
          tenantId,
          environment: 'test',
          scopes: ['verifications:read'],
          actor: 'test',
        })
        for (let i = 0; i < 20; i++) await createVerification(app, key)
        fill()
        if (by === 'command') expect((await vidimus(app.dir, ['key', 'revoke', row.id])).exitCode).toBe(0)
        else await revokeKey(app.deps, row.id, 'test')
        expect((await app.call('GET', '/v1/usage', { key: lost })).status).toBe(401)
        expect(namesIn(app.dir)).not.toContain('ballast')
        await app.stop()
      }
    },
  )

  test.skipIf(!disk)(
    `${disk ? '' : 'SKIPPED, because nobody may mount a small one here: '}is named by a command that meets it`,
    async () => {
      const { dir, resize } = smallDisk(20 * MIB)!
      await vidimusJson(dir, 'tenant', 'create', '--name', 'Shop')
      const { blocks, bfree, bsize } = statfsSync(dir)
      // Next to nothing: whether SQLite fails to open its log or to write it, is its own business.
      resize((blocks - bfree) * bsize + 8 * 1024)
      const { exitCode, stderr } = await vidimus(dir, ['tenant', 'create', '--name', 'x'.repeat(90)])
      expect(exitCode).not.toBe(0)
      expect(stderr).toContain('make room')
      expect(stderr).not.toContain('report this line')
    },
  )

  /** A service with room held back, and what leaves it no other. */
  async function onFullDisk() {
    const { dir, resize } = smallDisk(400 * MIB)!
    const app = await startApp({ dir })
    const { id: tenantId, key } = await app.tenant()
    await app.deps.space.look()
    const fill = () => {
      const { blocks, bfree, bsize } = statfsSync(dir)
      resize((blocks - bfree) * bsize)
      // The rest of the last block.
      try {
        writeFileSync(join(dir, 'filler'), new Uint8Array(MIB))
      } catch {}
    }
    return { app, tenantId, key, fill }
  }
})

test('a link for the set-up that cannot be kept is left out, and the service runs and stops like any other', async () => {
  const dir = join(temporaryDir(), 'data')
  await vidimusJson(dir, 'tenant', 'create', '--name', 'Shop')
  const sqlite = new Database(join(dir, 'vidimus.db'))
  sqlite.run("CREATE TRIGGER refuse BEFORE INSERT ON dashboard_links BEGIN SELECT RAISE(ABORT, 'no room'); END")
  sqlite.close()
  const server = await serve(dir)
  expect(server.first.setup_url).toBeNull()
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  server.process.kill('SIGTERM')
  expect(await server.process.exited).toBe(0)
})

/** Never in memory, where a file that is open can still be written. */
const DISK = '/var/tmp'
const probe = join(temporaryDir(DISK), 'probe')
writeFileSync(probe, '')
const canFreeze = freeze([probe]) && thaw([probe])

describe('a disk that cannot be written', () => {
  test.skipIf(!canFreeze)(
    `${canFreeze ? '' : 'SKIPPED, because files cannot be made unchangeable here: '}fails writes with 500, answers polls, and needs no restart afterwards`,
    async () => {
      const app = await startApp({ dir: temporaryDir(DISK) })
      const { key } = await app.tenant()
      const made = await createVerification(app, key)
      const frozen = ['vidimus.db', 'vidimus.db-wal', '.'].map(name => join(app.dir, name))
      expect(freeze(frozen)).toBe(true)
      try {
        const refused = await create(app, key)
        expect([refused.status, refused.body.error.code]).toEqual([500, 'internal_error'])
        expect(await statuses(app, key, 'DELETE', [made.id])).toEqual(new Set([500]))
        expect(await readiness(app)).toBe(503)
        expect(await statuses(app, key, 'GET', [made.id], '/status')).toEqual(new Set([200]))
        expect(await statuses(app, key, 'GET', [made.id])).toEqual(new Set([200]))
        expect((await app.call('GET', '/healthz')).status).toBe(200)
      } finally {
        thaw(frozen)
      }
      expect(await readiness(app)).toBe(200)
      expect((await create(app, key)).status).toBe(201)
      expect(await statuses(app, key, 'DELETE', [made.id])).toEqual(new Set([200]))
      await app.stop()
      expect(invariantsOf(join(app.dir, 'vidimus.db'))).toEqual(SOUND)
    },
  )
})
