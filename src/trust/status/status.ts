import { isLoopback } from '../../egress/addresses.ts'
import type { Calling, Reporting } from '../../ground.ts'
import { type FetchStatus, STATUS_BODY_BYTES_MAX } from '../../openid4vp/status/list.ts'
import type { Deps, Testing } from '../deps.ts'
import { fetchList } from './fetch-list.ts'

const WANTED = { bytesMax: STATUS_BODY_BYTES_MAX, metric: 'vidimus_status_list_fetches_total' } as const

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
  return async (url, accept, isLocal) => {
    const { issuer } = await deps.sandbox()
    if (url === issuer.statusListUri) {
      return { ok: true, contentType: 'application/statuslist+jwt', body: Buffer.from(await issuer.statusListToken(deps.now())) }
    }
    return await fetchList(deps, { url, accept, loopback: isLocal, ...WANTED })
  }
}
