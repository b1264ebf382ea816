// Answers a test session as a wallet would, for whoever has no phone at hand. The documents are issued by the sandbox issuer of
// the data directory (VIDIMUS_DATA_DIR), so it runs on the machine of the service. With --dc it is page, browser and wallet in
// one, with --in-person a phone that shows a code, and with --till the tablet that reads it, too.
import { randomBytes } from 'node:crypto'
import type { Sealer } from '../src/base/seal.ts'
import { CommandError, parseCall, UsageError } from '../src/cli/output.ts'
import { requireDatabase } from '../src/cli/require-database.ts'
import { ConfigError, loadConfig } from '../src/config.ts'
import { StartRefusal } from '../src/db/refusal.ts'
import { createDeps } from '../src/deps.ts'
import { realWorld } from '../src/ground.ts'
import { createProver, PROBE_HEADER, PROOF_HEADER } from '../src/http/probe.ts'
import { makeHolder } from '../src/sandbox/issuer/issuer.ts'
import { PERSONAS, type PersonaId } from '../src/sandbox/personas.ts'
import { answerPage, type DcRequest, NothingToShow } from '../src/sandbox/wallet/dc-wallet.ts'
import { type Fetch, type Holder, present, RequestRefused } from '../src/sandbox/wallet/wallet.ts'
import type { HostedVerification } from '../src/verifications/schema.ts'
import { type HolderPhone, phoneOf } from './persona-phone.ts'

const HELP = `usage: sandbox-wallet.ts WALLET_URI [--persona ${Object.keys(PERSONAS).join('|')}] [--dc [--origin URL]]
       sandbox-wallet.ts --in-person [WALLET_URI --till TOKEN] [--persona …]

--dc          answers as the wallet behind a browser (W3C Digital Credentials), not as one that read the QR code
--origin URL  the page that asks, one of those that "vidimus origin" lists; without it, a page of the service
--in-person   prints the code of a phone, takes a message of the reader by line (base64url), and prints the answer
--till TOKEN  carries the messages itself, with the access token of the till (or the key) that created the session

It needs the data directory of the service: give it the same VIDIMUS_DATA_DIR.

example: ./scripts/bun scripts/sandbox-wallet.ts "openid4vp://?client_id=…" --persona minor`

/** Expected failures: printed in one line, without a stack. */
const EXPECTED = [UsageError, CommandError, ConfigError, StartRefusal, RequestRefused, NothingToShow]

type Session = { base: string; id: string }

try {
  const call = readCall()
  if (call.isInPerson && !call.walletUri) await talkByLines(call.persona)
  else await answerSession(call)
} catch (error) {
  if (!EXPECTED.some(kind => error instanceof kind)) throw error
  console.error(`sandbox-wallet: ${(error as Error).message}`)
  process.exit(error instanceof UsageError ? 2 : 1)
}

type Call = { walletUri: string; persona: PersonaId; isPage: boolean; origin?: string; isInPerson: boolean; token?: string }

function readCall(): Call {
  const flags = {
    persona: { type: 'string' },
    dc: { type: 'boolean' },
    origin: { type: 'string' },
    'in-person': { type: 'boolean' },
    till: { type: 'string' },
  } as const
  const { values, words } = parseCall(process.argv.slice(2), flags)
  const [walletUri = ''] = words
  const persona = (values.persona ?? 'adult') as PersonaId
  const { dc: isPage = false, origin, 'in-person': isInPerson = false, till: token } = values
  if (origin !== undefined && !isPage) throw new UsageError('--origin goes with --dc: only a page has an origin')
  if (isInPerson ? (token !== undefined) !== (walletUri !== '') : token !== undefined)
    throw new UsageError('--till goes with --in-person and the wallet_uri of its session')
  if (!values.help && (walletUri || isInPerson) && Object.hasOwn(PERSONAS, persona))
    return { walletUri, persona, isPage, origin, isInPerson, token }
  console.error(HELP)
  return process.exit(values.help ? 0 : 2)
}

async function answerSession({ walletUri, persona, isPage, origin, token }: Call) {
  const session = sessionOf(walletUri)
  const now = Date.now()
  const holder = await makePersona(persona, session, now)
  const fetch = reaching(session)
  const presented = () => {
    if (token !== undefined) return presentInPerson(session, holder, token, fetch)
    return isPage
      ? presentToPage(session, origin ?? new URL(session.base).origin, holder, { now, fetch })
      : present(walletUri, holder, { now, fetch })
  }
  const { status, body } = await presented()
  console.log(`${PERSONAS[persona].title.en}: the service answered ${status} ${JSON.stringify(body)}`)
  console.log(`The verification is ${await outcomeOf(session)} now.`)
}

/** Until the reader ends the session, or the input ends. */
async function talkByLines(persona: PersonaId) {
  const { publicUrl } = loadConfig(process.env)
  const phone = await phoneOf(await makePersona(persona, { base: publicUrl }, Date.now()))
  console.log(phone.code)
  for await (const line of console) {
    const answer = await phone.receive(Buffer.from(line, 'base64url'))
    if (!answer) break
    console.log(Buffer.from(answer).toString('base64url'))
  }
  // The input may stay open.
  process.exit(0)
}

/** Phone, radio and till in one. */
async function presentInPerson({ base, id }: Session, holder: Holder, token: string, fetch: Fetch) {
  const phone = await phoneOf(holder)
  const post = (what: string, body: object) =>
    fetch(`${base}/v1/verifications/${id}/in-person-${what}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const { message } = (await (await post('request', { engagement: phone.code })).json()) as { message: string }
  const answered = await post('response', { message: await messageOf(phone, message) })
  return { status: answered.status, body: await answered.json() }
}

async function messageOf(phone: HolderPhone, message: string): Promise<string> {
  const answer = await phone.receive(Buffer.from(message, 'base64url'))
  return Buffer.from(answer ?? []).toString('base64url')
}

/** Service and session, from the address of the request. */
function sessionOf(walletUri: string): Session {
  const query = URL.parse(walletUri)?.searchParams
  const address = URL.parse(query?.get('request_uri') ?? query?.get('response_uri') ?? '')
  const [, base, id] = /^(https?:\/\/.*)\/wallet\/\w+\/([\w-]+)(?:\?from=qr)?$/.exec(address?.href ?? '') ?? []
  if (!base || !id)
    throw new CommandError(`"${walletUri.slice(0, 80)}" is no wallet_uri; give the one of a verification, in quotes`)
  return { base, id }
}

async function makePersona(persona: PersonaId, { base }: Pick<Session, 'base'>, now: number): Promise<Holder> {
  const config = { ...loadConfig(process.env), publicUrl: base }
  await requireDatabase(config)
  const deps = await createDeps(config, realWorld(), 'command')
  try {
    // Documents of another issuer than the service's own would be trusted by nobody.
    if (!(await isOwn(base, deps.sealer)))
      throw new CommandError(
        `${config.dataDir} is not the data directory of the service at ${base}; set VIDIMUS_DATA_DIR to the one that its start prints`,
      )
    const { issuer } = await deps.sandbox()
    return await makeHolder(issuer, persona, now, count => new Uint8Array(randomBytes(count)))
  } finally {
    await deps.close()
  }
}

async function isOwn(base: string, sealer: Sealer): Promise<boolean> {
  const number = randomBytes(24).toString('base64url')
  const { headers } = await reaching({ base })(`${base}/healthz`, { headers: { [PROBE_HEADER]: number } })
  return headers.get(PROOF_HEADER) === createProver(sealer)(number)
}

/** Fetches the requests as a page, answers as the wallet behind its browser, and posts the answer. A program can send any Origin. */
async function presentToPage(
  { base, id }: Session,
  origin: string,
  holder: Holder,
  { now, fetch }: { now: number; fetch: Fetch },
) {
  const post = (what: string, body: object) =>
    fetch(`${base}/wallet/dc/${what}/${id}`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const { requests } = (await (await post('request', {})).json()) as { requests: DcRequest[] }
  const answered = await post('response', await answerPage({ requests, origin }, holder, { now }))
  return { status: answered.status, body: await answered.json() }
}

/** A refusal of the service, or no connection, ends the exchange with its own message. */
function reaching({ base }: Pick<Session, 'base'>): Fetch {
  return async (url, init) => {
    const answer = await fetch(url, init).catch(() => {
      throw new CommandError(`nobody answers at ${base}; start the service, or check its VIDIMUS_PUBLIC_URL`)
    })
    // The reply to the answer itself is the result of the exchange.
    if (answer.ok || /\/wallet\/(dc\/)?response\/|-response$/.test(url)) return answer
    throw new CommandError(`the service answered ${answer.status}: ${await reasonOf(answer)}`)
  }
}

async function reasonOf(answer: Response): Promise<string> {
  const { error } = (await answer.json().catch(() => ({}))) as { error?: { code?: string; message?: string } }
  return error ? `${error.code}, ${error.message}` : 'it gives no reason'
}

/** As the hosted page is told, which needs no key. Whoever waited for the answer may be quicker, and have erased it. */
async function outcomeOf({ base, id }: Session, tries = 3): Promise<string> {
  const answer = await fetch(`${base}/v/${id}/data`)
  if (answer.status === 404) return 'erased'
  if (answer.status === 429 && tries > 1) {
    await Bun.sleep(1000 * Math.min(Number(answer.headers.get('retry-after')), 5))
    return outcomeOf({ base, id }, tries - 1)
  }
  if (!answer.ok)
    throw new CommandError(
      `how it ended cannot be read now (${answer.status}: ${await reasonOf(answer)}); ask ${base}/v1/verifications/${id}/status`,
    )
  const { status, reason, answered, compares } = (await answer.json()) as Pick<
    HostedVerification,
    'status' | 'reason' | 'answered' | 'compares'
  >
  if (compares) return `${status} (answered; the till compares the photo)`
  if (answered) return `${status} (answered; it completes when its response code is redeemed)`
  return reason ? `${status} (${reason})` : status
}
