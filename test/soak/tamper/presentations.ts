// Good presentations of both formats with bytes changed, put in, taken out, or mixed with those of another holder or another
// session, judged by the service's own code as it judges what came out of an encrypted answer. Now and then one goes the whole
// way through the door.
import type { DcqlQuery } from '../../../src/openid4vp/dcql/dcql.ts'
import { responseUri } from '../../../src/openid4vp/exchange/request-object.ts'
import { boundToRedirect } from '../../../src/openid4vp/exchange/session-transcript.ts'
import { type Holder, vpToken } from '../../../src/sandbox/wallet/wallet.ts'
import { openResponseKey } from '../../../src/verifications/exchange/response-key.ts'
import { findSession } from '../../../src/verifications/store.ts'
import { startApp } from '../../helpers/app.ts'
import { CHANGE_KINDS, type Change, withChangedPart } from '../../helpers/byte-changes.ts'
import { FORM, formOf, openSession, type Party, postTo, readOf, type Session } from '../../helpers/exchange.ts'
import { forgeMdoc, forgeSdJwt, forgeSigner, holderWith, MDL_NAMESPACE, trust } from '../../helpers/forger.ts'
import { accept, CLAIMS, FORMATS, QUERIES } from '../../helpers/queries.ts'
import type { Seeded } from '../../helpers/seeded.ts'
import type { FormatChoice } from '../../helpers/wallet.ts'

/** As many of each, then new sessions. */
const PER_SESSION = 500
const AT_THE_DOOR_EVERY = 250

type Soak = { random: Seeded; violations: string[]; isOver: () => boolean }
type Cast = { party: Party; holders: [Holder, Holder] }

export async function mutatePresentations(soak: Soak): Promise<Record<string, number>> {
  const cast = await setCast()
  const counts = { sd_jwts: 0, mdocs: 0, at_the_door: 0, mdoc_envelopes: 0 }
  do for (const format of FORMATS) await mutateSome(cast, format, soak, counts)
  while (!soak.isOver())
  await cast.party.app.stop()
  return counts
}

async function setCast(): Promise<Cast> {
  const app = await startApp()
  const signer = await forgeSigner()
  await trust(app, signer)
  const other = { family_name: 'Musterfrau', given_name: 'Petra' }
  const elements = Object.entries(other).map(([name, value]) => [MDL_NAMESPACE, name, value] as const)
  const [erika, petra] = [
    await holderWith(async key => [await forgeSdJwt(signer, key), await forgeMdoc(signer, key)]),
    await holderWith(async key => [await forgeSdJwt(signer, key, { claims: other }), await forgeMdoc(signer, key, { elements })]),
  ]
  return { party: { app, key: (await app.tenant({ name: 'Shop', dailyQuota: 10_000_000 })).key }, holders: [erika, petra] }
}

async function mutateSome({ party, holders }: Cast, format: FormatChoice, soak: Soak, counts: Record<string, number>) {
  const { random, violations, isOver } = soak
  const [erika, petra] = holders
  const session = await openSession(party, QUERIES[format])
  const good = await presentationOf(session, erika, format)
  const others = [
    await presentationOf(session, petra, format),
    await presentationOf(await openSession(party, QUERIES[format]), erika, format),
  ]
  const completes = await judgeOf(session, format)
  if (!Bun.deepEquals(await completes(good), CLAIMS)) violations.push(`F40: a good ${format} is not completed`)
  for (let i = 0; i < PER_SESSION && !isOver(); i++) {
    const other = others[random.below(2)]!
    const mutated = random.below(4) === 0 ? mixed(good, other, random) : withChangedPart(good, random.below(1000), drawn(random))
    // The other holder may have answered this session as well.
    if (mutated === good || mutated === other) continue
    counts[format === 'mso_mdoc' ? 'mdocs' : 'sd_jwts']!++
    const claims = await completes(mutated)
    if (claims) judgeCompleted(format, claims, mutated, violations, counts)
    if (i % AT_THE_DOOR_EVERY === 0) await knock(party, erika, format, soak, counts)
  }
}

const presentationOf = async ({ request, app }: Session, holder: Holder, format: FormatChoice): Promise<string> =>
  Object.values(await vpToken(request, holder, { now: app.clock.now(), accept: accept(format) })).flat()[0] as string

/** The claims, if it is completed. */
async function judgeOf({ app, created }: Session, format: FormatChoice) {
  const { deps } = app
  const row = (await findSession(deps.db, created.id))!
  const { query } = QUERIES[format] as { query: DcqlQuery }
  const expected = {
    now: deps.now(),
    createdAt: row.createdAt,
    ...boundToRedirect({
      clientId: row.clientId,
      nonce: row.nonce,
      responseUri: responseUri(deps.config.publicUrl, row.id),
      encryptionKeyThumbprint: (await openResponseKey(deps, row))!.thumbprint,
    }),
  }
  const anchors = await deps.anchors('test')
  return async (presentation: string) => {
    const presentations = [{ query: query.credentials[0]!, presentation }]
    const verdict = await deps.verifier.verify({
      query,
      presentations,
      expected,
      anchors,
      environment: 'test',
      status: deps.status,
      crls: deps.crls,
      now: deps.now,
      rules: [],
    })
    return verdict.status === 'completed' ? verdict.claims : undefined
  }
}

function drawn({ next, below }: Seeded): Change[] {
  return Array.from({ length: 1 + below(3) }, () => ({
    kind: CHANGE_KINDS[below(2) === 0 ? 0 : below(CHANGE_KINDS.length)]!,
    at: next(),
    length: below(2) === 0 ? 1 : 1 + below(300),
    value: below(256),
  }))
}

/** Parts of it in another order, dropped, or from the other; of an mdoc, which is one part, a stretch of bytes from the other. */
function mixed(good: string, other: string, { below }: Seeded): string {
  const [own, foreign] = [good.split(/([.~])/), other.split(/([.~])/)]
  if (own.length === 1) {
    const [bytes, theirs] = [Buffer.from(good, 'base64url'), Buffer.from(other, 'base64url')]
    const from = below(bytes.length)
    const to = from + 1 + below(bytes.length - from)
    return Buffer.concat([bytes.subarray(0, from), theirs.subarray(from, to), bytes.subarray(to)]).toString('base64url')
  }
  const placeIn = (parts: string[]) => 2 * below(Math.ceil(parts.length / 2))
  const [at, to, from] = [placeIn(own), placeIn(own), placeIn(foreign)]
  const changes = [
    () => own.with(at, foreign[at] ?? ''),
    () => own.with(at, foreign[from] ?? ''),
    () => own.with(at, own[to] ?? '').with(to, own[at] ?? ''),
    () => own.toSpliced(at, 2),
    () => own.toSpliced(at, 0, foreign[from] ?? '', '~'),
  ]
  return changes[below(changes.length)]!().join('')
}

/** Every letter of an SD-JWT is hashed or signed. Of an mdoc the envelope is not; then it must say what was issued. */
function judgeCompleted(
  format: FormatChoice,
  claims: Record<string, unknown>,
  mutated: string,
  violations: string[],
  counts: Record<string, number>,
): void {
  if (format === 'mso_mdoc' && Bun.deepEquals(claims, CLAIMS)) counts.mdoc_envelopes!++
  else violations.push(`F40: a changed ${format} is completed: ${mutated}`)
}

async function knock(party: Party, holder: Holder, format: FormatChoice, soak: Soak, counts: Record<string, number>) {
  const session = await openSession(party, QUERIES[format])
  let isSame = false
  let sent = ''
  const presentation = (text: string) => {
    sent = withChangedPart(text, soak.random.below(1000), drawn(soak.random))
    isSame = sent === text
    return sent
  }
  const form = await formOf(session, holder, { accept: accept(format), mutations: { presentation } })
  const { status } = await postTo(session, form, FORM)
  if (status !== 200 && status !== 400) soak.violations.push(`F40: a changed ${format} was answered ${status}`)
  const { claims, status: outcome } = await readOf(session)
  if (outcome === 'completed' && !isSame) judgeCompleted(format, claims ?? {}, sent, soak.violations, counts)
  counts.at_the_door!++
}
