// A restored database has people in it who were erased since. The logs of the nodes name them to nobody but this command.
import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, temporaryDir } from '../helpers/app.ts'
import { type Served, serve, vidimus } from '../helpers/cli.ts'
import { hasPostgres, newDatabase, postgresDir, unlessMissing } from '../helpers/cluster.ts'
import { createOn, runOn, shareCluster, stop } from '../helpers/shared-cluster.ts'

const cluster = shareCluster()

describe.skipIf(!hasPostgres)(unlessMissing('erase-again'), () => {
  test('verifications that two nodes erased after a dump are erased again in what is restored from it', async () => {
    const url = await newDatabase(cluster, 'vidimus')
    const env = { VIDIMUS_DATABASE_URL: url }
    const dirs = [temporaryDir(), temporaryDir()]
    const one = await serve(dirs[0]!, ['--dev'], env)
    const two = await serve(dirs[1]!, [], { ...env, VIDIMUS_KEY_DIR: dirs[0]! })
    const create = async () => (await createOn(one)).body.id
    const status = async ({ url: at }: Served, id: string, method = 'GET') =>
      (await call(at, method, `/v1/verifications/${id}`, { key: one.first.test_key })).status
    const [early, before, first, second, kept] = [await create(), await create(), await create(), await create(), await create()]
    // A log begins with what the audit chain knows; from then on it has what its own node erases.
    expect(await status(one, early, 'DELETE')).toBe(200)
    expect(await status(two, before, 'DELETE')).toBe(200)

    const dump = join(postgresDir(), 'dump')
    runOn(cluster, 'pg_dump', ['-Fc', '--no-unlogged-table-data', '-f', dump, 'vidimus'])
    expect(await status(one, first, 'DELETE')).toBe(200)
    expect(await status(two, second, 'DELETE')).toBe(200)
    for (const node of [one, two]) await stop(node)

    const restored = { VIDIMUS_DATABASE_URL: await newDatabase(cluster, 'restored') }
    runOn(cluster, 'pg_restore', ['-d', 'restored', dump])
    const logs = dirs.map(dir => join(dir, 'backups/erasures.log'))
    for (const log of logs) expect(readFileSync(log, 'utf8')).not.toMatch(new RegExp(`${first}|${second}`))
    const again = await vidimus(dirs[0]!, ['erase-again', ...logs, '--json'], restored)
    expect(again).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.parse(again.stdout)).toMatchObject({ erasures: 4, erased_again: 2 })
    expect((await vidimus(dirs[0]!, ['audit', 'verify'], restored)).exitCode).toBe(0)
    const after = await serve(dirs[0]!, [], restored)
    expect([await status(after, first), await status(after, second), await status(after, kept)]).toEqual([404, 404, 200])
    const [row] = await cluster.query<{ count: string }>('SELECT count(*) FROM verification_sessions', 'restored')
    expect(Number(row!.count)).toBe(1)
    expect(JSON.parse((await vidimus(dirs[0]!, ['erase-again', ...logs, '--json'], restored)).stdout).erased_again).toBe(0)
  })

  test('a file that is no log of erasures is refused', async () => {
    const file = join(temporaryDir(), 'erasures.log')
    const missing = await vidimus(temporaryDir(), ['erase-again', file])
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('there is no file') })
    writeFileSync(file, 'something else\n')
    const wrong = await vidimus(temporaryDir(), ['erase-again', file])
    expect(wrong).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is no log of erasures') })
    expect((await vidimus(temporaryDir(), ['erase-again'])).exitCode).toBe(2)
  })
})
