import type { TokenPair } from '../../devices/schema.ts'
import { ApiFailure, callApi } from '../shared/api.ts'
import { exclusively } from './exclusively.ts'
import { keep, type Pairing, read, type Tokens } from './memory.ts'
import { newKey } from './new-key.ts'

/** Early enough for several retries. */
const REFRESH_EARLY_MS = 5 * 60_000

type Call = NonNullable<Parameters<typeof callApi>[1]>

/** The till was never paired, or is not paired any more. */
class NotPaired extends Error {}

/** Exchanges a code for tokens. The same code and key return the same pair again. */
export async function pair({ code, key }: Pairing): Promise<void> {
  await exclusively(async () => {
    // Another tab used the same code first.
    if (read('pairing')?.key !== key) return
    const got = await callApi<TokenPair>('v1/devices/enroll', {
      method: 'POST',
      body: { pairing_code: code },
      headers: { 'idempotency-key': key },
    })
    forgetAll()
    keepPair(got)
    keep('isUnpaired', undefined)
    keep('pairing', undefined)
  })
}

/** Calls the service as this till and refreshes the token when needed. */
export async function callTill<Body>(path: string, call: Call = {}): Promise<Body> {
  const kept = currentTokens()
  const tokens = Date.now() < kept.refreshAt ? kept : await refresh(kept)
  try {
    return await callApi<Body>(path, withToken(call, tokens))
  } catch (error) {
    const code = error instanceof ApiFailure && error.status === 401 ? error.code : undefined
    if (code === 'api_key_expired') return await callApi<Body>(path, withToken(call, await refresh(tokens)))
    if (code === 'invalid_api_key') unpair(tokens)
    throw error
  }
}

const withToken = (call: Call, { access }: Tokens): Call => ({
  ...call,
  headers: { ...call.headers, authorization: `Bearer ${access}` },
})

/** Refreshes in one tab at a time: a second use of a refresh token revokes the till. */
const refresh = (stale: Tokens): Promise<Tokens> =>
  exclusively(async () => {
    const kept = currentTokens()
    if (kept.access !== stale.access) return kept
    try {
      const got = await callApi<TokenPair>('v1/devices/token', {
        method: 'POST',
        body: { refresh_token: kept.refresh },
        headers: { 'idempotency-key': kept.refreshKey },
      })
      return keepPair(got)
    } catch (error) {
      if (error instanceof ApiFailure && error.code === 'invalid_refresh_token') unpair(kept)
      throw error
    }
  })

function currentTokens(): Tokens {
  const tokens = read('tokens')
  if (!tokens) throw new NotPaired()
  return tokens
}

function keepPair({ device, access_token, refresh_token, expires_in }: TokenPair): Tokens {
  const tokens = {
    device: device.id,
    access: access_token,
    refresh: refresh_token,
    refreshAt: Date.now() + expires_in * 1000 - REFRESH_EARLY_MS,
    refreshKey: newKey(),
  }
  keep('tokens', tokens)
  return tokens
}

/** Unless it was paired anew in the meantime. */
function unpair({ access }: Tokens): void {
  if (read('tokens')?.access !== access) return
  forgetAll()
  keep('isUnpaired', true)
}

function forgetAll(): void {
  keep('check', undefined)
  keep('till', undefined)
  keep('tokens', undefined)
}
