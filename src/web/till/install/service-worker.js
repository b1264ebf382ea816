// Caches the till's page and assets, so that it opens when the server is away. Nothing else:
// responses of the service bypass this file. The server writes SHELL in front of it, so that each
// version is a different file.
/* global SHELL */

const PAGE = new URL('../till', self.location.href).href
/** One origin may have several services under different paths. */
const OURS = `vidimus-till ${PAGE} `
const KEPT_AS = OURS + SHELL.version
const ASSETS = SHELL.assets.map(name => new URL(`../assets/${name}`, self.location.href).href)
const ANSWER_MS = 4000

self.addEventListener('install', event => {
  event.waitUntil(keepShell())
})

self.addEventListener('activate', event => {
  event.waitUntil(takeOver())
})

self.addEventListener('fetch', event => {
  const { request } = event
  if (request.mode === 'navigate' && withoutExtras(request.url) === PAGE) event.respondWith(page(request))
  else if (ASSETS.includes(request.url)) event.respondWith(asset(request))
})

async function keepShell() {
  const cache = await caches.open(KEPT_AS)
  // Bypasses the browser's cache, which may hold the previous version.
  await cache.addAll([PAGE, ...ASSETS].map(url => new Request(url, { cache: 'reload' })))
  await self.skipWaiting()
}

async function takeOver() {
  const names = await caches.keys()
  const old = names.filter(name => name.startsWith(OURS) && name !== KEPT_AS)
  await Promise.all(old.map(name => caches.delete(name)))
  await self.clients.claim()
}

/** The server's page if it answers in time; an error page of a proxy does not count. */
async function page(request) {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(ANSWER_MS) })
    if (answer.ok) return answer
  } catch {
    // The cached page says that the server is away.
  }
  return (await caches.match(PAGE)) ?? Response.error()
}

async function asset(request) {
  return (await caches.match(request)) ?? fetch(request)
}

const withoutExtras = url => url.replace(/[?#].*$/, '')
