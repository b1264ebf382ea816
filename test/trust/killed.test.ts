// A list that is taken while the process is killed, and a database that is restored from before it.
import { afterAll, beforeAll, expect } from 'bun:test'
import { join } from 'node:path'
import { cleanUp } from '../helpers/app.ts'
import { vidimusJson } from '../helpers/command.ts'
import { HOW, killPoints } from '../helpers/crash/kill-at.ts'
import { killTaking, type ListToTake, listToTake } from '../helpers/crash/killed-list.ts'
import { copyOf } from '../helpers/directories.ts'
import { sqliteOnly } from '../helpers/engines.ts'

afterAll(cleanUp)

const onFile = sqliteOnly('PostgreSQL keeps its promises itself, and has its own backups')
/** Of each kind of step; soak/list-kills tries 200 in all. */
const POINTS_PER_KIND = 5

let list: ListToTake
beforeAll(async () => {
  list = await listToTake()
})

onFile(`killed ${HOW} while a list is taken, the old or the new one is there, whole, and the chain verifies`, async () => {
  const points = await killPoints(copyOf(list.dir), list.take, POINTS_PER_KIND)
  const seen = await Array.fromAsync(points, point => killTaking(list, point))
  expect(seen.flatMap(({ problems }) => problems)).toEqual([])
  expect(seen.filter(({ isKilled }) => isKilled).length).toBeGreaterThan(points.length / 2)
  expect(new Set(seen.map(({ state }) => state)).size).toBe(2)
})

onFile('a backup from before an update brings the old list back, the next look the new one, and the chain has both', async () => {
  const { dir, files, shown, take } = list
  const own = copyOf(dir)
  const backup = join(files, 'backup.db')
  await vidimusJson(own, 'backup', backup)
  await vidimusJson(own, ...take)
  await vidimusJson(own, 'restore', backup)
  expect(await shown(own)).toMatchObject({ sequence: 5, entries: 30 })
  await vidimusJson(own, ...take)
  expect(await shown(own)).toMatchObject({ sequence: 6, entries: 20 })
  expect(await vidimusJson(own, 'audit', 'verify')).toMatchObject({ ok: true })
})
