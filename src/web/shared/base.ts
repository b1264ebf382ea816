/** The root of the service, which may be under a path: one folder above this page's script. */
export const BASE = new URL('..', scriptUrl())

/** The address of a route, from its path without a leading slash: `v1/verifications`. */
export const serviceUrl = (path: string): string => new URL(path, BASE).href

/** False where VIDIMUS_SANDBOX=off. */
export const HAS_SANDBOX = document.documentElement.dataset.sandbox !== 'off'

/** True where test sessions trust more issuers than the sandbox's. */
export const HAS_TEST_ANCHORS = document.documentElement.dataset.testAnchors === 'own'

/** The sandbox wallet with a request. */
export const sandboxUrl = (walletUri: string): string => serviceUrl(`sandbox#wallet_uri=${encodeURIComponent(walletUri)}`)

function scriptUrl(): string {
  const script = document.querySelector<HTMLScriptElement>('script[src]')
  if (!script) throw new Error('a page is started by its script')
  return script.src
}
