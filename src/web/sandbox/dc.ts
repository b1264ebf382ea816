// The sandbox as the wallet behind a browser: the page that opened this window asks by messages. Its
// origin comes from the browser, so answers are bound to it as on a platform.
import { type DcRequest, NothingToShow, type PageRequest, readPage } from '../../sandbox/wallet/dc-wallet.ts'
import { RequestRefused } from '../../sandbox/wallet/wallet.ts'
import type { FromPage, FromSandbox } from '../shared/ask-sandbox.ts'
import { CannotOpen, now, type Service } from './open-request.ts'

export type Asking = Omit<FromPage, 'type'> & { origin: string; reply: (message: FromSandbox) => void }

/** Takes the first requests of the opener. */
export function listenToOpener(opener: Window, onAsked: (asking: Asking) => void): () => void {
  const listen = ({ source, origin, data }: MessageEvent<unknown>) => {
    // No answer can be bound to a page without an origin.
    if (source !== opener || origin === 'null' || !isFromPage(data)) return
    stop()
    const { environment, requests } = data
    onAsked({ origin, environment, requests, reply: message => opener.postMessage(message, origin) })
  }
  const stop = () => removeEventListener('message', listen)
  addEventListener('message', listen)
  // Any origin may read this message: it says nothing.
  opener.postMessage({ type: 'vidimus-ready' } satisfies FromSandbox, '*')
  return stop
}

function isFromPage(data: unknown): data is FromPage {
  const { type, requests } = (data ?? {}) as Partial<FromPage>
  return type === 'vidimus-requests' && Array.isArray(requests) && requests.every(isRequest)
}

const isRequest = (request: unknown): request is DcRequest => typeof (request as Partial<DcRequest> | null)?.protocol === 'string'

/** Refuses what a careful wallet refuses, and live sessions. */
export async function openAsking({ environment, requests, origin }: Asking, service: Service): Promise<PageRequest> {
  if (environment !== 'test') throw new CannotOpen({ kind: 'live' })
  try {
    const request = await readPage({ requests, origin }, now(service))
    // Throws if a part of the request cannot be read.
    request.select([])
    return request
  } catch (error) {
    if (error instanceof RequestRefused || error instanceof NothingToShow)
      throw new CannotOpen({ kind: 'distrusted', detail: error.message })
    throw error
  }
}
