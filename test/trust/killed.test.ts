// A list that is taken while the process is killed, and a database that is restored from before it.
import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cleanUp, temporaryDir } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { vidimusJson } from '../helpers/command.ts'
import { HOW, killPoints } from '../helpers/crash/kill-at.ts'
import { copyOf } from '../helpers/directories.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { makeIssuers, pidList } from '../helpers/trusted-lists.ts'
import { makeSigner } from '../trust-lists/make.ts'

setDefaultTimeout(120_000)
afterAll(cleanUp)

const onFile = sqliteOnly('PostgreSQL keeps its promises itself, and has its own backups')

// Commands have the real clock.
const today = Date.now()
const files = temporaryDir()
const signer = await makeSigner({ notBefore: today - DAY_MS, notAfter: today + 300 * DAY_MS })
const issuers = await makeIssuers(40)

function fileOf(name: string, sequence: number, from: number, to: number): string {
  const file = join(files, name)
  const dates = { issuedAt: today - DAY_MS + sequence * 1000, nextUpdate: today + 30 * DAY_MS }
  writeFileSync(file, pidList(signer, issuers.slice(from, to), { ...dates, sequence }))
  return file
}

const [older, newer] = [fileOf('older.jwt', 5, 0, 30), fileOf('newer.jwt', 6, 20, 40)]

type Shown = { sequence: number; entries: number; digest: string; issuers: { id: string }[] }

let dir: string
let id: string

beforeAll(async () => {
  dir = join(temporaryDir(), 'data')
  mkdirSync(dir)
  const source = ['--kind', 'lote', '--env', 'live', '--signer', signer.fingerprint]
  ;({ id } = await vidimusJson<{ id: string }>(dir, 'trust', 'source', 'add', older, ...source))
})

const shown = (own: string) => vidimusJson<Shown>(own, 'trust', 'source', 'show', id)
const refresh = ['trust', 'source', 'refresh']

/** What may be there after a kill. */
const stateOf = ({ sequence, entries, issuers }: Shown) => `number ${sequence}, ${entries} issuers, ${issuers.length} anchors`

onFile(`killed ${HOW} while a list is taken, the old or the new one is there, whole, and the chain verifies`, async () => {
  const points = await killPoints(copyOf(dir), [...refresh, id, '--file', newer], 3)
  let killed = 0
  const seen = new Set<string>()
  for (const { name, run } of points) {
    const own = copyOf(dir)
    if ((await run(own, [...refresh, id, '--file', newer])).isKilled) killed++
    const state = stateOf(await shown(own))
    seen.add(state)
    expect([name, state]).toEqual([name, expect.stringMatching(/^number (5, 30 issuers, 90|6, 20 issuers, 60) anchors$/)])
    expect(await vidimusJson(own, 'audit', 'verify')).toMatchObject({ ok: true })
    const again = await vidimusJson<Shown>(own, ...refresh, id, '--file', newer)
    expect([name, again.sequence]).toEqual([name, 6])
  }
  expect(killed).toBeGreaterThan(points.length / 2)
  expect(seen.size).toBe(2)
})

onFile('a backup from before an update brings the old list back, the next look the new one, and the chain has both', async () => {
  const own = copyOf(dir)
  const backup = join(files, 'backup.db')
  await vidimusJson(own, 'backup', backup)
  await vidimusJson(own, ...refresh, id, '--file', newer)
  await vidimusJson(own, 'restore', backup)
  expect(await shown(own)).toMatchObject({ sequence: 5, entries: 30 })
  await vidimusJson(own, ...refresh, id, '--file', newer)
  expect(await shown(own)).toMatchObject({ sequence: 6, entries: 20 })
  expect(await vidimusJson(own, 'audit', 'verify')).toMatchObject({ ok: true })
})
