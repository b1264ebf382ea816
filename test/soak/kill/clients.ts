// Clients that mix everything a service does, and remember what they were told. A call whose answer never came is made again
// after the restart, the very same: with an Idempotency-Key where there is one. So every unknown outcome becomes a known one.
import { decline, fetchRequest, type Holder, present } from '../../../src/sandbox/wallet/wallet.ts'
import { call as send } from '../../helpers/app.ts'
import type { Seeded } from '../../helpers/seeded.ts'
import type { Ack } from '../../invariants/acks.ts'

export type Shop = { key: string; webhookUrl: string; holder: Holder }

type Session = { id: string; walletUri: string; hasWebhook: boolean; code?: string; isBusy?: boolean; hasEnded?: boolean }
type Till = { device: string; refreshToken: string; isBusy?: boolean }

export type Told = {
  acks: Ack[]
  /** Counts by the name of the act. */
  counts: Record<string, number>
  violations: string[]
  /** Sessions whose end was told, and which owe a message. */
  owed: Set<string>
  /** When the client had the answer to its erasure. */
  erasedAt: Map<string, number>
  /** True while connections may be lost and the service goes on. */
  mayRepeat?: () => boolean
  /** True while a 500 is explained by a fault. */
  mayFail?: () => boolean
}

type Act = { name: string; run: (url: string) => Promise<void> }

type Clients = {
  /** Works until stopped. A failure that no fault explains is a violation. */
  work(url: string, isStopped: () => boolean, isExplained?: () => boolean): Promise<void>
  /** Repeats all calls that the last kill left without an answer. */
  resolve(url: string): Promise<number>
}

const SESSIONS_MAX = 500
/** How long a key may stay with a request that died: its node is dead after some seconds. */
const IN_FLIGHT_MAX_MS = 8000
/** As a client that does not hammer a service that fails. */
const AFTER_FAILURE_MS = 100

export function createClients({ key, webhookUrl, holder }: Shop, random: Seeded, told: Told): Clients {
  const open: Session[] = []
  const tills: Till[] = []
  let unknown: Act[] = []
  let counter = 0

  const pick = <T extends { isBusy?: boolean }>(from: T[], fits: (each: T) => boolean = () => true): T | undefined => {
    const free = from.filter(each => !each.isBusy && fits(each))
    return free[random.below(free.length)]
  }

  const isExplained = (status: number) => status === 500 && told.mayFail?.() === true

  type Options = { key?: string; body?: object; idempotencyKey?: string }

  async function call(url: string, method: string, path: string, wanted: number[], { key, body, idempotencyKey }: Options = {}) {
    const headers = idempotencyKey === undefined ? undefined : { 'idempotency-key': idempotencyKey }
    const answer = await sendUntilFree(url, method, path, { key, body, headers })
    if (wanted.includes(answer.status)) return answer
    // Whether it was done is not known, as without an answer.
    if (isExplained(answer.status)) throw new Error('the outcome is unknown')
    throw new Unexpected(`${method} ${path.replace(/vs_\w+/, 'ID')}: ${answer.status} ${answer.text.slice(0, 200)}`)
  }

  /** As a careful client does: a key that is in flight is tried again. */
  async function sendUntilFree(...request: Parameters<typeof send>): ReturnType<typeof send> {
    const startedAt = performance.now()
    for (;;) {
      const answer = await send(...request)
      const waitedMs = performance.now() - startedAt
      if (answer.status !== 409 || !answer.text.includes('idempotency_key_in_flight')) return answer
      told.counts.longest_in_flight_ms = Math.max(told.counts.longest_in_flight_ms ?? 0, Math.round(waitedMs))
      if (waitedMs > IN_FLIGHT_MAX_MS) return answer
      await Bun.sleep(100)
    }
  }

  function create(): Act {
    const name = `order-${++counter}`
    const hasWebhook = random.below(2) === 0
    const body = {
      template: 'age_over_18',
      metadata: { name },
      ttl_seconds: 3600,
      ...(hasWebhook && { webhook_url: webhookUrl }),
      ...(random.below(3) === 0 && { redirect_url: 'https://shop.example/done' }),
    }
    return {
      name: 'create',
      async run(url) {
        const { body: made } = await call(url, 'POST', '/v1/verifications', [201], { key, body, idempotencyKey: name })
        const { id, wallet_uri, created_at, expires_at } = made as Record<string, string>
        told.acks.push({ fact: 'created', id: id!, created_at, expires_at, template: 'age_over_18' })
        open.push({ id: id!, walletUri: wallet_uri!, hasWebhook })
      },
    }
  }

  /** A second answer is told that there was one: after a kill that is how a wallet learns of the first. */
  function respond(session: Session): Act {
    const isAdult = random.below(4) === 0
    const to = (url: string) => (address: string, init?: RequestInit) =>
      fetch(address.replace(/^http:\/\/localhost:\d+/, url), init)
    return {
      name: isAdult ? 'respond' : 'decline',
      async run(url) {
        session.hasEnded = true
        const known = await call(url, 'GET', `/v1/verifications/${session.id}`, [200], { key })
        if ((known.body as { status: string }).status === 'pending') {
          const { status, redirectUri } = isAdult
            ? await present(session.walletUri, holder, { fetch: to(url), now: Date.now() })
            : await declineAt(session.walletUri, to(url))
          if (status !== 200 && isExplained(status)) throw new Error('the outcome is unknown')
          if (status !== 200) throw new Unexpected(`POST /wallet/response: ${status}`)
          session.code = redirectUri?.split('#response_code=')[1]
        }
        const { body } = await call(url, 'GET', `/v1/verifications/${session.id}`, [200], { key })
        const { status } = body as { status: 'completed' | 'failed' }
        if (status !== (isAdult ? 'completed' : 'failed')) throw new Unexpected(`a session is ${status}`)
        told.acks.push({ fact: 'ended', id: session.id, status, webhook: session.hasWebhook })
        if (session.hasWebhook) told.owed.add(session.id)
      },
    }
  }

  function redeem(session: Session): Act {
    const code = session.code!
    session.code = undefined
    let isRepeat = false
    return {
      name: 'redeem',
      async run(url) {
        // Refused the second time, it was redeemed the first: the directory must say so.
        const wanted = isRepeat ? [200, 404] : [200]
        isRepeat = true
        await call(url, 'POST', `/v1/verifications/${session.id}/redeem`, wanted, { key, body: { response_code: code } })
        told.acks.push({ fact: 'redeemed', id: session.id })
      },
    }
  }

  function erase(session: Session): Act {
    let isRepeat = false
    open.splice(open.indexOf(session), 1)
    return {
      name: 'erase',
      async run(url) {
        told.acks.push({ fact: 'erasing', id: session.id })
        const wanted = isRepeat ? [200, 404] : [200]
        isRepeat = true
        const { status, text } = await call(url, 'DELETE', `/v1/verifications/${session.id}`, [200, 404], { key })
        // fetch itself repeats a DELETE whose connection was lost, also when that began before the fault.
        if (!wanted.includes(status) && !told.mayRepeat?.())
          throw new Unexpected(`DELETE /v1/verifications/ID: ${status} ${text}`)
        told.acks.push({ fact: 'erased', id: session.id })
        told.erasedAt.set(session.id, Date.now())
        told.owed.delete(session.id)
      },
    }
  }

  function enroll(): Act {
    const idempotencyKey = `enrolment-${++counter}`
    const registration = { name: idempotencyKey, allowed_templates: ['age_over_18'] }
    let code: string | undefined
    return {
      name: 'enroll',
      async run(url) {
        code ??= ((await call(url, 'POST', '/v1/devices', [201], { key, body: registration })).body as { pairing_code: string })
          .pairing_code
        const { body } = await call(url, 'POST', '/v1/devices/enroll', [200], { body: { pairing_code: code }, idempotencyKey })
        const { device, refresh_token } = body as { device: { id: string }; refresh_token: string }
        told.acks.push({ fact: 'enrolled', device: device.id })
        tills.push({ device: device.id, refreshToken: refresh_token })
      },
    }
  }

  function refresh(till: Till): Act {
    const idempotencyKey = `refresh-${++counter}`
    return {
      name: 'refresh',
      async run(url) {
        const body = { refresh_token: till.refreshToken }
        const answer = await call(url, 'POST', '/v1/devices/token', [200], { body, idempotencyKey })
        till.refreshToken = (answer.body as { refresh_token: string }).refresh_token
      },
    }
  }

  function next(): { act: Act; busy?: { isBusy?: boolean } } {
    const chance = random.below(100)
    const till = pick(tills)
    if (till && chance < 12) return { act: refresh(till), busy: till }
    if (tills.length < 30 && chance < 15) return { act: enroll() }
    const coded = pick(open, ({ code }) => code !== undefined)
    if (coded && chance < 25) return { act: redeem(coded), busy: coded }
    const pending = pick(open, ({ hasEnded }) => !hasEnded)
    if (pending && chance < 50) return { act: respond(pending), busy: pending }
    const any = pick(open)
    if (any && (chance < 60 || open.length > SESSIONS_MAX)) return { act: erase(any), busy: any }
    return { act: create() }
  }

  async function perform(url: string, act: Act): Promise<void> {
    unknown.push(act)
    await act.run(url)
    unknown.splice(unknown.indexOf(act), 1)
    told.counts[act.name] = (told.counts[act.name] ?? 0) + 1
  }

  return {
    async work(url, isStopped, isExplained = isStopped) {
      while (!isStopped()) {
        const { act, busy } = next()
        if (busy) busy.isBusy = true
        try {
          await perform(url, act)
          if (busy) busy.isBusy = false
        } catch (error) {
          // Nothing has happened yet, or it would not explain this.
          if (!isExplained() || error instanceof Unexpected) {
            told.violations.push(`${act.name}: ${(error as Error).message}`)
            return
          }
          await Bun.sleep(AFTER_FAILURE_MS)
        }
      }
    },
    async resolve(url) {
      const left = unknown
      unknown = []
      for (const act of left) await perform(url, act)
      for (const each of [...open, ...tills]) each.isBusy = false
      return left.length
    },
  }
}

/** An answer that no kill explains. */
class Unexpected extends Error {}

type Fetching = (address: string, init?: RequestInit) => Promise<Response>

async function declineAt(walletUri: string, fetching: Fetching): Promise<{ status: number; redirectUri?: string }> {
  const { form, responseUri } = await decline(await fetchRequest(walletUri, fetching, { now: Date.now() }))
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await fetching(responseUri, { method: 'POST', headers, body: form.toString() })
  const { redirect_uri } = (await answer.json()) as { redirect_uri?: string }
  return { status: answer.status, redirectUri: redirect_uri }
}
