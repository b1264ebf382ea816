// What is small on the way and large once it is read: refused before it costs anything, as a client measures it, with the way there. The plan is
// 20 ms, and what takes longer is counted; a violation is only what a busy machine does not explain.
import type { Holder } from '../../src/sandbox/wallet.ts'
import { startApp } from '../../test/helpers/app.ts'
import { circularHolder, ENVELOPE_BOMBS, PRESENTATION_BOMBS } from '../../test/helpers/bombs.ts'
import { FORM, formOf, openSession, type Party, postTo, readOf, type Session } from '../../test/helpers/exchange.ts'
import { forgeMdoc, forgeSdJwt, forgeSigner, holderWith, trust } from '../../test/helpers/forger.ts'
import { accept, QUERIES } from '../../test/helpers/queries.ts'
import type { FormatChoice } from '../../test/helpers/wallet.ts'
import { progress } from '../soak-service.ts'

const PLANNED_MS_MAX = 20
const REFUSED_MS_MAX = 250

type Soak = { violations: string[]; isOver: () => boolean }
type Bomb = {
  title: string
  format?: FormatChoice
  expected: string
  make: (session: Session) => Promise<URLSearchParams | string>
}

export async function throwBombs({ violations, isOver }: Soak) {
  const app = await startApp()
  const signer = await forgeSigner()
  await trust(app, signer)
  const holder = await holderWith(async key => [await forgeSdJwt(signer, key), await forgeMdoc(signer, key)])
  const party = { app, key: (await app.tenant({ name: 'Shop', dailyQuota: 10_000_000 })).key }
  const bombs = bombsOf(holder, await circularHolder())
  // The first of each kind also loads and compiles what it meets.
  for (const format of ['dc+sd-jwt', 'mso_mdoc'] as const) await answerOnce(party, holder, format)
  const tookMs: number[] = []
  do {
    tookMs.push(await deepBody(party, violations))
    for (const bomb of bombs) tookMs.push(await throwOne(party, bomb, violations))
  } while (!isOver())
  await app.stop()
  return { tookMs, counts: { bombs: tookMs.length, bombs_beyond_20_ms: tookMs.filter(ms => ms > PLANNED_MS_MAX).length } }
}

function bombsOf(holder: Holder, circular: Holder): Bomb[] {
  return [
    ...PRESENTATION_BOMBS.map(([title, format, mutations]) => ({
      title,
      format,
      expected: '200 presentation_malformed',
      make: (session: Session) => formOf(session, holder, { accept: accept(format), mutations }),
    })),
    ...ENVELOPE_BOMBS.map(([title, make]) => ({
      title,
      expected: '400 pending',
      make: async (session: Session) => await make(session, holder),
    })),
    { title: '250,000 fields', expected: '400 pending', make: async () => `${'a=1&'.repeat(250_000)}a=1` },
    {
      title: 'certificates in a circle',
      expected: '200 issuer_untrusted',
      make: (session: Session) => formOf(session, circular),
    },
  ]
}

async function answerOnce(party: Party, holder: Holder, format: FormatChoice): Promise<void> {
  const session = await openSession(party, QUERIES[format])
  await postTo(session, await formOf(session, holder, { accept: accept(format) }), FORM)
}

async function throwOne(
  party: Party,
  { title, format = 'dc+sd-jwt', expected, make }: Bomb,
  violations: string[],
): Promise<number> {
  const session = await openSession(party, QUERIES[format])
  const raw = await make(session)
  const startedAt = performance.now()
  const { status } = await postTo(session, raw, FORM)
  const tookMs = performance.now() - startedAt
  const { status: state, error } = await readOf(session)
  const outcome = `${status} ${error?.code ?? state}`
  if (outcome !== expected) violations.push(`F32 ${title}: ${outcome} instead of ${expected}`)
  if (tookMs > PLANNED_MS_MAX) progress(`${title}: refused after ${Math.round(tookMs)} ms`)
  if (tookMs > REFUSED_MS_MAX) violations.push(`F32 ${title}: refused after ${Math.round(tookMs)} ms`)
  return tookMs
}

async function deepBody({ app, key }: Party, violations: string[]): Promise<number> {
  const raw = `{"template":"age_over_18","metadata":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`
  const startedAt = performance.now()
  const { status, text } = await app.call('POST', '/v1/verifications', {
    key,
    raw,
    headers: { 'content-type': 'application/json' },
  })
  const tookMs = performance.now() - startedAt
  if (status !== 400 || !text.includes('nested')) violations.push(`F32 deep JSON: ${status} ${text}`)
  if (tookMs > REFUSED_MS_MAX) violations.push(`F32 deep JSON: refused after ${Math.round(tookMs)} ms`)
  return tookMs
}
