// The built program in a small machine, a share of a core and little memory, with customers outside: as many exchanges a second
// as are asked for, begun at their own time whether the one before has ended or not.
import { join } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import { createDeps } from '../../src/deps.ts'
import { realWorld } from '../../src/ground.ts'
import { answer, fetchRequest, type Holder } from '../../src/sandbox/wallet/wallet.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { compileReleases } from '../build/release.ts'
import { type ControlGroup, createControlGroup } from './control-group.ts'
import { holderFor } from './exchange.ts'
import { fixed, table } from './output.ts'
import { environmentFor, makeTenant, residentMb, temporaryDir } from './service.ts'

type Box = { share: number; memoryMb: number; rate: number; p99Aim: number | undefined }

/** A quarter of a core is about a Raspberry Pi; the last row of each asks for more than it can keep. */
const BOXES: Box[] = [
  { share: 0.25, memoryMb: 128, rate: 50, p99Aim: undefined },
  { share: 0.25, memoryMb: 128, rate: 100, p99Aim: 500 },
  { share: 0.25, memoryMb: 128, rate: 300, p99Aim: undefined },
  { share: 0.1, memoryMb: 128, rate: 25, p99Aim: 400 },
  { share: 0.1, memoryMb: 128, rate: 100, p99Aim: undefined },
]
const FIRST_AIM_MS = 400
const WARM_UP_SECONDS = 30
/** What a start loads while nobody asks. */
const IDLE_MS = 5000
const PATIENCE_MS = 30_000
const TEMPLATE = 'age_over_18'

type Row = Box & {
  start_ms: number
  first_ms: number
  offered: number
  completed: number
  refused: number
  failed: number
  p50_ms: number
  p99_ms: number
  refusal_p99_ms: number
  resident_mb: number | undefined
  peak_mb: number | undefined
  killed: number
}

export type SmallReport = { seconds: number; first_aim_ms: number; rows: Row[] }

export async function benchSmall(seconds: number, tell: (text: string) => void): Promise<SmallReport> {
  const dir = temporaryDir()
  const program = join(dir, 'vidimus')
  await compileReleases([{ outfile: program }])
  const data = join(dir, 'data')
  await startInside(createControlGroup('vidimus-small-first', { share: 1 }), program, data).then(({ stop }) => stop())
  const { key } = await makeTenant(data)
  const rows: Row[] = []
  for (const box of BOXES) {
    tell(`${box.rate} a second on ${box.share} of a core`)
    rows.push(await measure(box, seconds, { program, data, key }))
  }
  return { seconds, first_aim_ms: FIRST_AIM_MS, rows }
}

type Installation = { program: string; data: string; key: string }

async function measure(box: Box, seconds: number, { program, data, key }: Installation): Promise<Row> {
  const group = createControlGroup(`vidimus-small-${box.share}-${box.rate}`, box)
  const { url, pid, ms, stop } = await startInside(group, program, data)
  const holder = await makeHolder(data, url)
  const exchange = () => exchangeOnce(url, key, holder)
  try {
    await Bun.sleep(IDLE_MS)
    const first = await exchange()
    await atRate(Math.min(box.rate, 50 * (box.share / 0.25)), WARM_UP_SECONDS, exchange)
    const ends = await atRate(box.rate, seconds, exchange)
    const took = sorted(ends.filter(({ end }) => end === 'completed'))
    return {
      ...box,
      start_ms: ms,
      first_ms: first.ms,
      offered: ends.length,
      completed: took.length,
      refused: ends.filter(({ end }) => end === 'refused').length,
      failed: ends.filter(({ end }) => end === 'failed').length,
      p50_ms: percentile(took, 0.5),
      p99_ms: percentile(took, 0.99),
      refusal_p99_ms: percentile(sorted(ends.filter(({ end }) => end === 'refused')), 0.99),
      resident_mb: residentMb(pid),
      peak_mb: group.peakMb(),
      killed: group.killed(),
    }
  } finally {
    await stop()
    group.remove()
  }
}

/** Outside, beside the running service: its document names the list of revoked ones at this address. */
async function makeHolder(data: string, url: string): Promise<Holder> {
  const publicUrl = url.replace('127.0.0.1', 'localhost')
  const deps = await createDeps({ ...loadConfig(environmentFor(data)), publicUrl }, realWorld(), 'command')
  try {
    return await holderFor(deps, 'dc+sd-jwt')
  } finally {
    await deps.close()
  }
}

async function startInside(group: ControlGroup, program: string, data: string) {
  const startedAt = performance.now()
  const child = Bun.spawn(group.inside([program, 'serve', '--json']), {
    // Budgets that one address with one key does not empty; 0 would turn off what is measured here.
    env: { ...environmentFor(data), VIDIMUS_LOG: 'error', VIDIMUS_RATE_LIMIT_SCALE: '1000' },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const reader = child.stdout.getReader()
  let line = ''
  while (!line.includes('\n')) {
    const { value, done } = await reader.read()
    if (done) throw new Error('the program ended before it listened')
    line += new TextDecoder().decode(value)
  }
  const { listening } = JSON.parse(line.slice(0, line.indexOf('\n'))) as { listening: string }
  return {
    url: listening,
    pid: child.pid,
    ms: performance.now() - startedAt,
    async stop() {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
      await child.exited
      clearTimeout(late)
    },
  }
}

type Ended = { end: 'completed' | 'refused' | 'failed'; ms: number }

/** Begins one at each time that is due; returns when all have ended. */
async function atRate(rate: number, seconds: number, begin: () => Promise<Ended>): Promise<Ended[]> {
  const startedAt = performance.now()
  const all: Promise<Ended>[] = []
  while (all.length < rate * seconds) {
    const due = Math.min(rate * seconds, Math.floor(((performance.now() - startedAt) / 1000) * rate) + 1)
    while (all.length < due) all.push(begin())
    await Bun.sleep(1)
  }
  return await Promise.all(all)
}

/** Creation, request, answer and reading, with the wallet's own work in between. */
async function exchangeOnce(url: string, key: string, holder: Holder): Promise<Ended> {
  const startedAt = performance.now()
  const ended = (end: Ended['end']): Ended => ({ end, ms: performance.now() - startedAt })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const ask = (path: string, init: RequestInit = {}) => fetch(url + path, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) })
  try {
    const created = await ask('/v1/verifications', { method: 'POST', headers, body: JSON.stringify({ template: TEMPLATE }) })
    if (created.status === 429) return ended('refused')
    const { id, wallet_uri = '' } = (await created.json()) as Verification
    const request = await fetchRequest(wallet_uri, () => ask(`/wallet/request/${id}`), { now: Date.now() })
    const { form } = await answer(request, holder, { now: Date.now() })
    const answered = await ask(`/wallet/response/${id}`, { method: 'POST', body: form })
    if (answered.status !== 200) return ended('failed')
    await answered.body?.cancel()
    const { status } = (await (await ask(`/v1/verifications/${id}`, { headers })).json()) as Verification
    return ended(status === 'completed' ? 'completed' : 'failed')
  } catch {
    return ended('failed')
  }
}

const sorted = (ends: readonly Ended[]): number[] => ends.map(({ ms }) => ms).sort((a, b) => a - b)

const percentile = (values: number[], share: number): number =>
  values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

export function describeSmall({ seconds, first_aim_ms, rows }: SmallReport): string {
  const aim = (isMet: boolean, text: string) => `${text}: ${isMet ? 'met' : 'missed'}`
  return `The built program in a control group, its customers outside: whole exchanges (SD-JWT) begun at a steady rate for ${seconds} s, after ${WARM_UP_SECONDS} s of a rate that it keeps. Above what it can keep, creations get 429.

${table(
  [
    'core',
    'MB',
    'asked/s',
    'kept/s',
    '429',
    'failed',
    'p50 ms',
    'p99 ms',
    'aim',
    '429 p99 ms',
    'start ms',
    'first ms',
    'aim',
    'RSS MB',
    'peak MB',
    'killed',
  ],
  rows.map(row => [
    String(row.share),
    String(row.memoryMb),
    String(row.rate),
    fixed(row.completed / seconds, 1),
    String(row.refused),
    String(row.failed),
    fixed(row.p50_ms, 0),
    fixed(row.p99_ms, 0),
    row.p99Aim === undefined ? '' : aim(row.p99_ms <= row.p99Aim && row.completed === row.offered, `at most ${row.p99Aim}`),
    Number.isNaN(row.refusal_p99_ms) ? '' : fixed(row.refusal_p99_ms, 0),
    fixed(row.start_ms, 0),
    fixed(row.first_ms, 0),
    aim(row.first_ms <= first_aim_ms, `at most ${first_aim_ms}`),
    fixed(row.resident_mb ?? null, 0),
    fixed(row.peak_mb ?? null, 0),
    String(row.killed),
  ]),
)}`
}
