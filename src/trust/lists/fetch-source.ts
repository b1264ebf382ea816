import { createReadStream } from 'node:fs'
import { callOut } from '../../egress/client.ts'
import type { Calling } from '../../ground.ts'
import type { ListRefused } from '../../trust-lists/list.ts'
import { LIST_BYTES_MAX } from '../../trust-lists/read-list.ts'
import { followRedirects, whyMissed } from '../status/fetch-list.ts'

const LIMITS = { resolveMs: 2000, connectMs: 5000 }
/** Redirects included. */
const TOTAL_MS = 30_000
const REDIRECTS_MAX = 3
const ETAG_CHARS_MAX = 256

type FetchedBytes = { ok: true; bytes: Uint8Array; etag: string | null }
type Fetched = FetchedBytes | { ok: true; isUnchanged: true } | ListRefused

/** Only addresses that the operator named are called: nothing in a list is. `etag` is that of the accepted list. */
export async function fetchSource(deps: Calling, location: string, etag: string | null, signal?: AbortSignal): Promise<Fetched> {
  return location.startsWith('file:')
    ? await readLocal(process.getBuiltinModule('node:url').fileURLToPath(location))
    : await fetchRemote(deps, location, etag, signal)
}

async function fetchRemote(
  { egress, resolve, now }: Calling,
  location: string,
  etag: string | null,
  signal?: AbortSignal,
): Promise<Fetched> {
  const startedAt = now()
  const headers: Record<string, string> = { accept: '*/*', ...(etag !== null && { 'if-none-match': etag }) }
  const answer = await followRedirects(location, REDIRECTS_MAX, url => {
    const totalMs = Math.max(1, TOTAL_MS - (now() - startedAt))
    const limits = { ...LIMITS, totalMs, answerBytes: LIST_BYTES_MAX }
    return callOut(egress, resolve, { url, method: 'GET', headers, limits, onLargeAnswer: 'fail' }, signal)
  })
  if (!answer.ok) return answer.failure === 'too_large' ? tooLarge() : unreachable(whyMissed(answer).reason)
  if (answer.status === 304 && etag !== null) return { ok: true, isUnchanged: true }
  if (answer.status !== 200) return unreachable(`its server answered ${answer.status}`)
  const encoding = answer.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') return unreachable('its server sent it compressed, which was not asked for')
  return { ok: true, bytes: answer.body, etag: etagOf(answer.headers.etag) }
}

const etagOf = (given: string | undefined): string | null =>
  given !== undefined && given.length <= ETAG_CHARS_MAX && /^[\x21-\x7e]+$/.test(given) ? given : null

/** Pipes are read too, though their size is not known before. Not with readBeginning: the service must not wait for a pipe. */
export async function readLocal(path: string): Promise<FetchedBytes | ListRefused> {
  try {
    // One byte more than allowed is enough to refuse it.
    const bytes = Buffer.concat(await Array.fromAsync(createReadStream(path, { end: LIST_BYTES_MAX })))
    return bytes.length > LIST_BYTES_MAX ? tooLarge() : { ok: true, bytes: new Uint8Array(bytes), etag: null }
  } catch (error) {
    return unreachable(`${path} cannot be read (${(error as { code?: string }).code})`)
  }
}

const tooLarge = (): ListRefused => ({
  ok: false,
  code: 'too_large',
  detail: `it is larger than ${LIST_BYTES_MAX / 1024 / 1024} MiB`,
})

const unreachable = (reason: string): ListRefused => ({
  ok: false,
  code: 'unreachable',
  detail: `the list could not be fetched (${reason})`,
})
