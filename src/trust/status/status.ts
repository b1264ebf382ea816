import { isLoopback } from '../../egress/addresses.ts'
import type { Calling, Reporting } from '../../ground.ts'
import { type IdentifierToken, readIdentifierList } from '../../openid4vp/status/identifier-list.ts'
import type { FetchStatus } from '../../openid4vp/status/read-list.ts'
import { readIdentifiersInThread } from '../../trust-lists/read-in-thread.ts'
import type { Deps, Testing } from '../deps.ts'
import { fetchList } from './fetch-list.ts'

/** Reading more takes so long that others would wait for it. */
const READ_HERE_BYTES_MAX = 64 * 1024

/** A list of a developer's own issuer on this machine, beside a `serve --dev`. */
export const isLocalList =
  (config: Deps['config'], isSandboxList: (uri: string) => boolean) =>
  (uri: string, environment: 'test' | 'live'): boolean => {
    const url = config.isDev && environment === 'test' && !isSandboxList(uri) ? URL.parse(uri) : null
    if (!url || !/^https?:$/.test(url.protocol)) return false
    const host = url.hostname.replace(/^\[|\]$/g, '')
    return host === 'localhost' || host.endsWith('.localhost') || isLoopback(host)
  }

export function statusFetcher(deps: Calling & Reporting & Testing): FetchStatus {
  return async (url, { accept, bytesMax, isLocal }) => {
    const { issuer } = await deps.sandbox()
    if (url === issuer.statusListUri) {
      return { ok: true, contentType: 'application/statuslist+jwt', body: Buffer.from(await issuer.statusListToken(deps.now())) }
    }
    if (url === issuer.identifierListUri) {
      return { ok: true, contentType: 'application/identifierlist+cwt', body: await issuer.identifierList(deps.now()) }
    }
    return await fetchList(deps, { url, accept, bytesMax, loopback: isLocal, metric: 'vidimus_status_list_fetches_total' })
  }
}

export const readIdentifiers = (bytes: Uint8Array): Promise<IdentifierToken> =>
  bytes.length > READ_HERE_BYTES_MAX ? readIdentifiersInThread(bytes) : readIdentifierList(bytes)
