// Keeps the shell of the till, the page and what it is made of, so that it opens when the server is away and says so itself. Nothing else is
// ever kept: what the service answers goes past this file. SHELL is written in front of it by the server, which makes each version another file.
/* global SHELL */

const PAGE = new URL('../till', self.location.href).href
/** One origin may have several services, each under its path. */
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
  // Past the browser's own cache, which may still have the page of the version before.
  await cache.addAll([PAGE, ...ASSETS].map(url => new Request(url, { cache: 'reload' })))
  await self.skipWaiting()
}

async function takeOver() {
  const names = await caches.keys()
  const old = names.filter(name => name.startsWith(OURS) && name !== KEPT_AS)
  await Promise.all(old.map(name => caches.delete(name)))
  await self.clients.claim()
}

/** The server's, when it has one to give in time; a proxy's regrets are none. */
async function page(request) {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(ANSWER_MS) })
    if (answer.ok) return answer
  } catch {
    // Away: the kept one says so.
  }
  return (await caches.match(PAGE)) ?? Response.error()
}

async function asset(request) {
  return (await caches.match(request)) ?? fetch(request)
}

const withoutExtras = url => url.replace(/[?#].*$/, '')
