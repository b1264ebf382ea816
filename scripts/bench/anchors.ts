// Presentations judged with few trusted issuers and with many, by turns: lists bring hundreds.
import { randomBytes } from 'node:crypto'
import { loadConfig } from '../../src/config.ts'
import { createDeps } from '../../src/deps.ts'
import { realWorld } from '../../src/ground.ts'
import { AnchorIndex } from '../../src/openid4vp/trust/anchor-index.ts'
import type { TrustAnchor } from '../../src/openid4vp/trust/trust.ts'
import { newAuthority } from '../../src/sandbox/issuer/certificates.ts'
import { FORMATS, type Format, preparedJudgements, speedOf, TO_WARM_UP } from './exchange.ts'
import { atMost, fixed, type Spread, shown, spreadOf, table, whole } from './output.ts'
import { environmentFor, makeTenant, startService, temporaryDir } from './service.ts'

const FEW = 10
const MANY = 1000
const RATIO_AIM = 1.1
/** More and shorter ones than elsewhere: two figures are compared that should be equal. */
const ROUNDS = 15
const JUDGED_A_ROUND = 2000

type AnchorFigures = { format: Format; few_cpu_us: Spread | null; many_cpu_us: Spread | null; ratio: Spread | null }

type AnchorReport = {
  anchors: { few: number; many: number }
  rounds: number
  aim: { ratio_maximum: number }
  /** All certificates read for the first time, without the pauses that the service makes. */
  index_ms: number
  formats: AnchorFigures[]
}

export async function benchAnchors(): Promise<AnchorReport> {
  const dir = temporaryDir()
  const { key } = await makeTenant(dir)
  const service = await startService(dir)
  const config = { ...loadConfig(environmentFor(dir)), publicUrl: `http://localhost:${service.port}` }
  const deps = await createDeps(config, realWorld(), 'command')
  const { anchor } = await deps.sandbox()
  const strangers = await makeStrangers(MANY - 1)
  const few = new AnchorIndex([...strangers.slice(0, FEW - 1), anchor])
  const startedAt = performance.now()
  const many = new AnchorIndex([...strangers, anchor])
  const indexMs = performance.now() - startedAt
  const formats: AnchorFigures[] = []
  for (const format of FORMATS) {
    const judgeWith = await preparedJudgements(deps, service, key, format)
    formats.push({ format, ...(await compare(judgeWith(few), judgeWith(many))) })
  }
  await deps.close()
  await service.stop()
  return { anchors: { few: FEW, many: MANY }, rounds: ROUNDS, aim: { ratio_maximum: RATIO_AIM }, index_ms: indexMs, formats }
}

/** Trusted for every type, as the issuer that is presented: each is one that could be asked for. */
async function makeStrangers(count: number): Promise<TrustAnchor[]> {
  const making = {
    publicUrl: 'https://issuer.example',
    now: Date.now(),
    random: (bytes: number) => new Uint8Array(randomBytes(bytes)),
  }
  const strangers: TrustAnchor[] = []
  for (let i = 0; i < count; i++) {
    const { certificate } = await newAuthority(`Stranger ${i}`, making)
    strangers.push({
      id: `stranger-${i}`,
      certificate: Buffer.from(certificate, 'base64'),
      mode: 'pkix',
      crl: null,
      trustedFor: null,
      label: `Stranger ${i}`,
      isSandbox: false,
      use: 'both',
    })
  }
  return strangers
}

type Judge = (i: number) => Promise<void>

async function compare(withFew: Judge, withMany: Judge): Promise<Omit<AnchorFigures, 'format'>> {
  await speedOf(TO_WARM_UP, withFew)
  await speedOf(TO_WARM_UP, withMany)
  const rounds: { few: number; many: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    // The first of a round is not always the same one.
    const [first, second] = round % 2 === 0 ? [withFew, withMany] : [withMany, withFew]
    const one = (await speedOf(JUDGED_A_ROUND, first)).cpuUs
    const other = (await speedOf(JUDGED_A_ROUND, second)).cpuUs
    rounds.push(round % 2 === 0 ? { few: one, many: other } : { few: other, many: one })
  }
  return {
    few_cpu_us: spreadOf(rounds.map(({ few }) => few)),
    many_cpu_us: spreadOf(rounds.map(({ many }) => many)),
    ratio: spreadOf(rounds.map(({ few, many }) => many / few)),
  }
}

export function describeAnchors({ anchors, rounds, aim, index_ms, formats }: AnchorReport): string {
  const rows = formats.map(({ format, few_cpu_us, many_cpu_us, ratio }) => [
    format,
    shown(few_cpu_us, 0),
    shown(many_cpu_us, 0),
    shown(ratio, 2),
    atMost(ratio, aim.ratio_maximum),
  ])
  return `Presentations judged in one process, processor time of each, medians (and ranges) of ${rounds} rounds by turns. ${whole(anchors.many)} anchors are indexed in ${fixed(index_ms, 0)} ms.

${table(['format', `${anchors.few} anchors, us`, `${whole(anchors.many)} anchors, us`, 'ratio', 'aim'], rows)}`
}
