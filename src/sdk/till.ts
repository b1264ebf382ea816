import { VidimusError } from './error.ts'
import { type Call, type CallOptions, createTransport, newKey, randomFraction, type TransportOptions } from './transport.ts'
import { type TillVerifications, tillVerifications } from './verifications.ts'
import type { Device, Template, TokenPair, Usage } from './wire.ts'

/**
 * Storage of one text that survives a restart and that nobody else can read. `write` resolves once
 * the text is durable. A till whose storage is lost or restored from an earlier state has to be
 * paired again.
 */
export type TillStorage = {
  read(): string | null | undefined | Promise<string | null | undefined>
  write(text: string): void | Promise<void>
  /**
   * Runs `work` exclusively. Needed when several processes or tabs share a storage: a refresh token
   * that is used twice revokes the till. In a browser: `work => navigator.locks.request('till',
   * work)`.
   */
  lock?<Result>(work: () => Promise<Result>): Promise<Result>
}

export type TillOptions = TransportOptions & { storage: TillStorage }

export type Till = {
  /**
   * Pairs this till with the code of its registration. After a lost response or a crash, call it
   * again with the same code: it returns the same tokens.
   */
  enroll(pairingCode: string, options?: CallOptions): Promise<Device>
  /** True when it has tokens; the service may have revoked them. */
  isPaired(): Promise<boolean>
  /** Refreshes the tokens now. It happens automatically at 70 to 90 % of the life of the access token. */
  refresh(options?: Pick<CallOptions, 'signal'>): Promise<void>
  verifications: TillVerifications
  /** Its `allowed_templates` that exist. */
  templates(options?: CallOptions): Promise<{ data: Template[] }>
  usage(options?: CallOptions): Promise<Usage>
}

type Tokens = {
  access: string
  refresh: string
  /** Time of this machine's clock. */
  refreshAt: number
  expiresAt: number
  /** Chosen with the tokens, so that it is stored before it is sent. */
  refreshKey: string
}

type TillState = { tokens?: Tokens; pairing?: { code: string; key: string } }

/** Wait after a failed refresh while the access token still works. */
const REFRESH_AGAIN_MS = 60_000

/**
 * A device of a venue: it may use its `allowed_templates`, and read its own sessions.
 *
 * @example
 * ```ts
 * const till = createTill({
 *   baseUrl: 'https://verify.example',
 *   storage: { read: () => localStorage.getItem('till'), write: text => localStorage.setItem('till', text) },
 * })
 * if (!(await till.isPaired())) await till.enroll('VD-7K3M-9QZX')
 * const { id, wallet_uri } = await till.verifications.create({ template: 'age_over_18' })
 * ```
 */
export function createTill({ storage, ...options }: TillOptions): Till {
  const transport = createTransport(options)
  let refreshing: Promise<Tokens> | undefined
  let notBefore = 0

  const readKept = async (): Promise<TillState> => parsed(await storage.read())
  const keep = async (kept: TillState) => await storage.write(JSON.stringify(kept))
  const alone = <Result>(work: () => Promise<Result>) => (storage.lock ? storage.lock(work) : work())
  const currentTokens = async (): Promise<Tokens> => {
    const { tokens } = await readKept()
    if (!tokens) throw new VidimusError('not_paired', { message: 'This till is not paired: enroll it.' })
    return tokens
  }

  const exchange = async (stale: Tokens): Promise<Tokens> => {
    const { refresh, refreshKey, access } = await currentTokens()
    // Another process or tab has refreshed them.
    if (access !== stale.access) return await currentTokens()
    try {
      const pair = await transport.send<TokenPair>({
        method: 'POST',
        path: '/v1/devices/token',
        field: 'access_token',
        body: { refresh_token: refresh },
        idempotencyKey: refreshKey,
        isRepeatable: true,
      })
      const tokens = tokensOf(pair)
      await keep({ tokens })
      return tokens
    } catch (error) {
      if (error instanceof VidimusError && error.code === 'invalid_refresh_token') await keep({})
      throw error
    }
  }

  // All callers share one refresh. Aborting one call affects no other, and the tokens are stored all the same.
  const refresh = async (stale: Tokens, signal?: AbortSignal): Promise<Tokens> => {
    refreshing ??= alone(() => exchange(stale)).finally(() => {
      refreshing = undefined
    })
    return await unlessAborted(refreshing, signal)
  }

  const usableTokens = async (signal?: AbortSignal): Promise<Tokens> => {
    const tokens = await currentTokens()
    if (Date.now() < Math.max(tokens.refreshAt, notBefore)) return tokens
    try {
      return await refresh(tokens, signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (Date.now() >= tokens.expiresAt || !isPassing(error)) throw error
      notBefore = Date.now() + REFRESH_AGAIN_MS
      return tokens
    }
  }

  const send = async <Body>(call: Call): Promise<Body> => {
    const tokens = await usableTokens(call.signal)
    try {
      return await transport.send<Body>({ ...call, token: tokens.access })
    } catch (error) {
      // This machine's clock may differ from the service's.
      if (!(error instanceof VidimusError) || error.code !== 'api_key_expired') throw error
      return await transport.send<Body>({ ...call, token: (await refresh(tokens, call.signal)).access })
    }
  }

  return {
    enroll: (pairingCode, options = {}) =>
      alone(async () => {
        const kept = await readKept()
        const key = kept.pairing?.code === pairingCode ? kept.pairing.key : newKey()
        await keep({ ...kept, pairing: { code: pairingCode, key } })
        const pair = await transport.send<TokenPair>({
          ...options,
          method: 'POST',
          path: '/v1/devices/enroll',
          field: 'access_token',
          body: { pairing_code: pairingCode },
          idempotencyKey: key,
          isRepeatable: true,
        })
        await keep({ tokens: tokensOf(pair) })
        return pair.device
      }),
    isPaired: async () => (await readKept()).tokens !== undefined,
    refresh: async ({ signal } = {}) => void (await refresh(await currentTokens(), signal)),
    verifications: tillVerifications(transport, send),
    templates: (options = {}) => send({ ...options, path: '/v1/templates', field: 'data', isRepeatable: true }),
    usage: (options = {}) => send({ ...options, path: '/v1/usage', field: 'day', isRepeatable: true }),
  }
}

function parsed(text: string | null | undefined): TillState {
  if (!text) return {}
  try {
    return JSON.parse(text)
  } catch {
    // Truncated or foreign text counts as no tokens.
    return {}
  }
}

function tokensOf({ access_token, refresh_token, expires_in }: TokenPair): Tokens {
  // Stored, what something between here and the service answered would strand the till.
  if (typeof access_token !== 'string' || typeof refresh_token !== 'string' || !(expires_in > 0))
    throw new VidimusError('unexpected_answer', { message: 'The answer is not from this service: no tokens.', maybeDone: true })
  const [now, lifeMs] = [Date.now(), expires_in * 1000]
  return {
    access: access_token,
    refresh: refresh_token,
    refreshAt: now + lifeMs * (0.7 + 0.2 * randomFraction()),
    expiresAt: now + lifeMs,
    refreshKey: newKey(),
  }
}

/** No response, or a busy service. */
const isPassing = (error: unknown): boolean =>
  error instanceof VidimusError && (error.code === 'no_answer' || error.status === 429 || (error.status ?? 0) >= 500)

function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
