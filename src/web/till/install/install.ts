import { serviceUrl } from '../../shared/base.ts'
import { read } from '../memory.ts'

const UPDATE_MS = 3_600_000

/** Makes the page installable, and lets it open without the server. */
export function install(): void {
  link('manifest', 'till/manifest.webmanifest')
  link('apple-touch-icon', 'till/icon-180.png')
  // Undefined without https, except on localhost.
  const workers: ServiceWorkerContainer | undefined = navigator.serviceWorker
  if (workers) keepShell(workers).catch(() => {})
}

/** Not in index.html: the bundler would rewrite the address. */
function link(rel: string, path: string): void {
  const element = document.createElement('link')
  element.rel = rel
  element.href = serviceUrl(path)
  document.head.append(element)
}

async function keepShell(workers: ServiceWorkerContainer): Promise<void> {
  const isFirst = workers.controller === null
  const registration = await workers.register(trusted(serviceUrl('till/service-worker.js')), { scope: serviceUrl('till') })
  // A till stays open for weeks: it looks for a new version by itself and loads it when idle.
  setInterval(() => registration.update().catch(() => {}), UPDATE_MS)
  workers.addEventListener('controllerchange', () => {
    if (!isFirst) reloadWhenIdle()
  })
}

function reloadWhenIdle(): void {
  if (read('check')) setTimeout(reloadWhenIdle, 1000)
  else location.reload()
}

type Policies = { createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): Policy }
type Policy = { createScriptURL(url: string): string }

/** Trusted types: the page's policy accepts script addresses only from here. */
function trusted(url: string): string {
  const policies = (globalThis as { trustedTypes?: Policies }).trustedTypes
  return policies ? policies.createPolicy('till', { createScriptURL: same => same }).createScriptURL(url) : url
}
