// F2 and F8: the log of a mixed day cut at random bytes, and random bits of a stopped database flipped. Half of the time for each.
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, cleanUp, createVerification, NOON, startApp, temporaryDir } from '../helpers/app.ts'
import { checkCut, traded } from '../helpers/crash/wal-cuts.ts'
import { type Seeded, seeded } from '../helpers/seeded.ts'
import { verifyWith } from '../helpers/wallet.ts'
import { parseSoakArguments, soakLine } from './output.ts'
import { progress } from './service.ts'

const CUTS_OF_A_DAY = 400
const STEPS_OF_A_DAY = 80
const SEALED = ['claims', 'credentials', 'error', 'metadata', 'purpose', 'redirect_url'] as const

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const counts = { days: 0, cuts: 0, acks: 0, flips: 0, refused: 0, served: 0, failed: 0 }
const startedAt = performance.now()
const isOver = (share: number) => performance.now() - startedAt > minutes * 60_000 * share

while (!isOver(0.5)) await cutOneDay()
const stopped = await stoppedDay()
while (!isOver(1)) await flipOne(stopped, random)
await cleanUp()
process.exit(soakLine({ script: 'soak/wal', seed, minutes, counts, percentiles: {}, violations }))

async function cutOneDay(): Promise<void> {
  const day = await traded(random, STEPS_OF_A_DAY)
  counts.days++
  for (let i = 0; i < CUTS_OF_A_DAY && !isOver(0.5); i++) {
    const at = random.below(day.logBytes + 1)
    const { violations: found, acks } = await checkCut(day, at)
    counts.cuts++
    counts.acks += acks
    violations.push(...found.map(violation => `day ${counts.days} cut at ${at}: ${violation}`))
  }
  rmSync(day.dir, { recursive: true })
  progress(`${counts.cuts} cuts, ${violations.length} violations`)
}

type Stopped = { dir: string; key: string; written: Verification[] }

async function stoppedDay(): Promise<Stopped> {
  const app = await startApp()
  const { key } = await app.tenant()
  const body = { purpose: 'to sell a bottle', metadata: { order: 'o-1' }, redirect_url: 'https://shop.example/done' }
  const written: Verification[] = []
  for (const persona of ['adult', 'minor', 'revoked'] as const)
    written.push((await verifyWith(app, key, persona, { body })).verification)
  for (let i = 0; i < 5; i++) written.push(await createVerification(app, key, body))
  await app.stop()
  return { dir: app.dir, key, written }
}

async function flipOne({ dir, key, written }: Stopped, { below }: Seeded): Promise<void> {
  const copy = temporaryDir()
  cpSync(dir, copy, { recursive: true })
  const file = join(copy, 'vidimus.db')
  const [offset, bit] = [below(statSync(file).size), below(8)]
  const bytes = readFileSync(file)
  bytes[offset]! ^= 1 << bit
  writeFileSync(file, bytes)
  counts.flips++
  const app = await startApp({ dir: copy, now: NOON }).catch(() => undefined)
  if (!app) counts.refused++
  for (const before of app ? written : []) {
    const { status, body } = await call<Verification>(app!.url, 'GET', `/v1/verifications/${before.id}`, { key })
    if (status !== 200) {
      counts.failed++
      continue
    }
    counts.served++
    const isSame = SEALED.every(name => Bun.deepEquals(body[name], before[name]))
    if (!isSame) violations.push(`bit ${bit} of byte ${offset}: a sealed value was served wrong`)
  }
  await app?.stop()
  rmSync(copy, { recursive: true })
  if (counts.flips % 100 === 0) progress(`${counts.flips} flips, ${counts.refused} refused, ${violations.length} violations`)
}
