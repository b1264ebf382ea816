// The sandbox wallet in place of the browser's own: a popup of the service, which takes the origin
// of the page from the browser as a platform would. Imports only types: shops bundle it.
import type { DcAnswer, Prepared } from '../../sdk/wallet-call.ts'

/** Messages between a page and the popup. */
export type FromPage = { type: 'vidimus-requests' } & Pick<Prepared, 'environment' | 'requests'>
export type FromSandbox = { type: 'vidimus-ready' } | { type: 'vidimus-declined' } | ({ type: 'vidimus-answer' } & DcAnswer)

const CLOSED_LOOK_MS = 500

const refused = (message: string) => new DOMException(message, 'NotAllowedError')

/**
 * Call it in the handler of a tap, with the requests or with the promise of them: the popup opens at
 * once. Rejects as `navigator.credentials.get` does.
 */
export async function askSandbox(
  base: string,
  prepared: Prepared | Promise<Prepared | undefined>,
  signal?: AbortSignal,
): Promise<DcAnswer> {
  const url = new URL(`${base.replace(/\/$/, '')}/sandbox?dc`)
  const popup = open(url, 'vidimus-sandbox', 'popup,width=480,height=880')
  if (!popup) throw refused('the popup was blocked')
  try {
    return await askWindow(popup, url.origin, prepared, signal)
  } finally {
    popup.close()
  }
}

/** The same with a window that shows /sandbox?dc, or is about to. */
export async function askWindow(
  wallet: Window,
  walletOrigin: string,
  prepared: Prepared | Promise<Prepared | undefined>,
  signal?: AbortSignal,
): Promise<DcAnswer> {
  const over = new AbortController()
  try {
    return await new Promise<DcAnswer>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { signal: over.signal })
      addEventListener(
        'message',
        async ({ source, origin, data }: MessageEvent<FromSandbox | undefined>) => {
          if (source !== wallet || origin !== walletOrigin) return
          if (data?.type === 'vidimus-declined') reject(refused('declined'))
          if (data?.type === 'vidimus-answer') resolve({ protocol: data.protocol, data: data.data })
          if (data?.type !== 'vidimus-ready') return
          const asked = await prepared
          if (asked?.environment !== 'test') return reject(refused('only test sessions can be asked'))
          const { environment, requests } = asked
          wallet.postMessage({ type: 'vidimus-requests', environment, requests } satisfies FromPage, walletOrigin)
        },
        { signal: over.signal },
      )
      const look = setInterval(() => wallet.closed && reject(refused('closed')), CLOSED_LOOK_MS)
      over.signal.addEventListener('abort', () => clearInterval(look))
    })
  } finally {
    over.abort()
  }
}
