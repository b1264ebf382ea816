import { serviceUrl } from '../shared/base.ts'
import { read } from './memory.ts'

const UPDATE_MS = 3_600_000

/** Makes the page one that can be installed, and that opens when the server is away. */
export function install(): void {
  link('manifest', 'till/manifest.webmanifest')
  link('apple-touch-icon', 'till/icon-180.png')
  // Without https, except on this very machine, there is none.
  const workers: ServiceWorkerContainer | undefined = navigator.serviceWorker
  if (workers) keepShell(workers).catch(() => {})
}

/** Here and not in the document, whose addresses the bundler would make its own. */
function link(rel: string, path: string): void {
  const element = document.createElement('link')
  element.rel = rel
  element.href = serviceUrl(path)
  document.head.append(element)
}

async function keepShell(workers: ServiceWorkerContainer): Promise<void> {
  const isFirst = workers.controller === null
  const registration = await workers.register(trusted(serviceUrl('till/service-worker.js')), { scope: serviceUrl('till') })
  // A till stays open for weeks: it looks for a new version by itself, and takes it when nobody is being served.
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

/** The policy of the page takes an address of a script only from here. */
function trusted(url: string): string {
  const policies = (globalThis as { trustedTypes?: Policies }).trustedTypes
  return policies ? policies.createPolicy('till', { createScriptURL: same => same }).createScriptURL(url) : url
}
