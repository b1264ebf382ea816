// F5, F6 and F37: a disk that fills under load and has room again, one that cannot be written for a while, and backups under load
// that are restored after erasures. Needs root for the small disk, and says so.
import { mkdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { call, cleanUp, temporaryDir } from '../helpers/app.ts'
import { vidimusJson } from '../helpers/cli.ts'
import { freeze, type SmallDisk, smallDisk, thaw, unmountAll } from '../helpers/crash/small-disk.ts'
import { seeded } from '../helpers/seeded.ts'
import type { Ack } from '../invariants/acks.ts'
import { checkInvariants } from '../invariants/check.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { progress, type Soaked, serviceOn, shopIn } from './service.ts'

const MIB = 1024 * 1024
const DISK_BYTES = 400 * MIB
const BALLAST_BYTES = 32 * MIB
/** The service looks for room once a minute. */
const ROOM_AGAIN_MS = 90_000

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const counts = { full: 0, full_skipped: 0, frozen: 0, frozen_skipped: 0, restored: 0, created: 0, refused: 0, erased: 0 }
const recoveredMs: number[] = []
const endsAt = performance.now() + minutes * 60_000

process.on('exit', unmountAll)
do {
  await restoreOnce().catch(failed('a restore'))
  await freezeOnce().catch(failed('a disk that cannot be written'))
  await fillOnce().catch(failed('a full disk'))
  progress(`${JSON.stringify(counts)}, ${violations.length} violations`)
} while (performance.now() < endsAt)
unmountAll()
await cleanUp()
const percentiles = { recovered: percentilesOf(recoveredMs) }
process.exit(soakLine({ script: 'soak/disk', seed, minutes, counts, percentiles, violations }))

function failed(what: string) {
  return (error: unknown) => void violations.push(`${what}: ${error}`)
}

function expectThat(holds: boolean, what: string): void {
  if (!holds) violations.push(what)
}

type Client = { service: Soaked; key: string; acks: Ack[] }

async function create({ service, key, acks }: Client, bytes = 400): Promise<number> {
  const body = { template: 'age_over_18', metadata: { text: 'x'.repeat(bytes) } }
  const answer = await call<{ id: string }>(service.url, 'POST', '/v1/verifications', { key, body })
  if (answer.status === 201) {
    counts.created++
    acks.push({ fact: 'created', id: answer.body.id })
  } else counts.refused++
  return answer.status
}

async function erase({ service, key, acks }: Client): Promise<number> {
  const gone = new Set(acks.flatMap(ack => (ack.fact === 'erased' ? [ack.id] : [])))
  const left = acks.flatMap(ack => (ack.fact === 'created' && !gone.has(ack.id) ? [ack.id] : []))
  const id = left[random.below(left.length)]!
  const { status } = await call(service.url, 'DELETE', `/v1/verifications/${id}`, { key })
  if (status === 200) {
    counts.erased++
    acks.push({ fact: 'erased', id })
  }
  return status
}

async function clientOn(dir: string): Promise<Client> {
  const { key } = await shopIn(dir)
  return { service: await serviceOn(dir), key, acks: [] }
}

async function readable({ service, key, acks }: Client): Promise<boolean> {
  const gone = new Set(acks.flatMap(ack => (ack.fact === 'erased' ? [ack.id] : [])))
  const known = acks.find(ack => ack.fact === 'created' && !gone.has(ack.id)) as { id: string } | undefined
  if (!known) return true
  const [whole, poll] = [`/v1/verifications/${known.id}`, `/v1/verifications/${known.id}/status`]
  return (await call(service.url, 'GET', whole, { key })).status === 200 && (await call(service.url, 'GET', poll)).status === 200
}

async function finish(dir: string, { service, acks }: Client): Promise<void> {
  await service.stop()
  violations.push(...(await checkInvariants(dir, { acks })).violations)
}

async function fillOnce(): Promise<void> {
  const disk = smallDisk(DISK_BYTES)
  if (!disk) {
    counts.full_skipped++
    progress('SKIPPED: nobody may mount a small disk here; run it as root')
    return
  }
  const { dir, resize } = disk
  const client = await clientOn(dir)
  // The ballast is laid down a moment after the start, piece by piece.
  const ballast = () => statSync(join(dir, 'ballast'), { throwIfNoEntry: false })?.size ?? 0
  for (let i = 0; i < 200 && ballast() < BALLAST_BYTES; i++) await Bun.sleep(50)
  for (let i = 0; i < 20; i++) await create(client)
  await tighten(disk, (1 + random.below(4)) * MIB)
  const seen = new Set<number>()
  const filling = async () => {
    for (let i = 0; i < 5000 && !seen.has(500); i++) seen.add(await create(client))
  }
  await Promise.all(Array.from({ length: 8 }, filling))
  expectThat(Bun.deepEquals([...seen].sort(), [201, 500]), `a full disk was answered ${[...seen]}`)
  expectThat(await readable(client), 'nothing can be read on a full disk')
  for (let i = 0; i < 5; i++) expectThat((await erase(client)) === 200, 'an erasure failed on a full disk')
  expectThat((await create(client)) === 500, 'something was created on a full disk')
  resize(DISK_BYTES)
  const begun = performance.now()
  while ((await create(client)) !== 201 && performance.now() - begun < ROOM_AGAIN_MS) await Bun.sleep(500)
  recoveredMs.push(performance.now() - begun)
  expectThat((await create(client)) === 201, 'nothing can be created although there is room again')
  await finish(dir, client)
  counts.full++
}

/** The service writes meanwhile: what was free a moment ago may not be, and a disk cannot be made smaller than what is on it. */
async function tighten({ dir, resize }: SmallDisk, leftBytes: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { blocks, bfree, bsize } = statfsSync(dir)
    try {
      return resize((blocks - bfree) * bsize + leftBytes)
    } catch (error) {
      if (attempt === 20) throw error
      await Bun.sleep(100)
    }
  }
}

async function freezeOnce(): Promise<void> {
  const dir = temporaryDir()
  const client = await clientOn(dir)
  for (let i = 0; i < 10; i++) await create(client)
  const frozen = ['vidimus.db', 'vidimus.db-wal', '.'].map(name => join(dir, name))
  if (!freeze(frozen)) {
    thaw(frozen)
    await client.service.stop()
    counts.frozen_skipped++
    progress('SKIPPED: files cannot be made unchangeable here; run it as root on a file system with attributes')
    return
  }
  try {
    expectThat((await create(client)) === 500, 'something was created on a disk that cannot be written')
    expectThat((await erase(client)) === 500, 'something was erased on a disk that cannot be written')
    expectThat(await readable(client), 'nothing can be read on a disk that cannot be written')
    await Bun.sleep(random.below(2000))
  } finally {
    thaw(frozen)
  }
  expectThat((await create(client)) === 201, 'nothing can be created although the disk can be written again')
  expectThat((await erase(client)) === 200, 'nothing can be erased although the disk can be written again')
  await finish(dir, client)
  counts.frozen++
}

/** The backup has everything acknowledged before it began; sessions erased since stay erased after the restore. */
async function restoreOnce(): Promise<void> {
  const dir = temporaryDir()
  const client = await clientOn(dir)
  const file = join(dir, 'copies', 'soak.db')
  mkdirSync(join(dir, 'copies'))
  for (let i = 0; i < 50; i++) await create(client)
  let isOver = false
  const load = async () => {
    while (!isOver) await (random.below(5) === 0 ? erase(client) : create(client))
  }
  const loads = Array.from({ length: 4 }, load)
  await Bun.sleep(200)
  const before = client.acks.filter(({ fact }) => fact === 'created')
  await vidimusJson(dir, 'backup', file)
  await Bun.sleep(random.below(300))
  isOver = true
  await Promise.all(loads)
  for (let i = 0; i < 10; i++) await erase(client)
  await client.service.stop()
  await vidimusJson(dir, 'restore', file)
  const erased = client.acks.filter(({ fact }) => fact === 'erased')
  await (await serviceOn(dir)).stop()
  violations.push(...(await checkInvariants(dir, { acks: [...before, ...erased] })).violations)
  counts.restored++
}
