// Who may import whom (architecture): arrows go from the door to the core and never back, and a feature uses another feature's verb, not
// its table. `deps.ts` wires everything and is imported for its types only.
import { expect, test } from 'bun:test'
import { dirname, join, relative, resolve } from 'node:path'

const SRC = resolve(import.meta.dir, '../src')
const BASE = ['time', 'ids', 'hash', 'json', 'lru', 'seal', 'addresses', 'threads']
const GROUND = [...BASE, 'config', 'log', 'metrics', 'db', 'http', 'openid4vp']

const ALLOWED: Record<string, string[]> = {
  time: [],
  ids: [],
  addresses: [],
  threads: [],
  hash: [],
  json: [],
  lru: [],
  seal: ['hash', 'ids'],
  openid4vp: ['hash', 'ids', 'json', 'lru'],
  config: BASE,
  log: ['config'],
  metrics: [],
  db: [...BASE, 'openid4vp'],
  http: [...BASE, 'config', 'log', 'metrics', 'db'],
  audit: GROUND,
  tenants: GROUND,
  templates: GROUND,
  usage: GROUND,
  access: [...GROUND, 'tenants'],
  // It is published by itself: of the service it takes types only, all in one file, which a test below checks.
  sdk: ['http', 'verifications', 'devices', 'templates', 'usage'],
  webhooks: [...GROUND, 'tenants', 'sdk'],
  verifications: [...GROUND, 'access', 'tenants', 'templates', 'usage', 'webhooks'],
  devices: [...GROUND, 'access', 'audit', 'templates', 'tenants'],
  // The other side of the protocol: of openid4vp it takes types only, which test/sandbox/browser.test.ts checks.
  sandbox: GROUND,
  wallet: [...GROUND, 'verifications', 'webhooks', 'templates', 'sandbox'],
  doctor: [...GROUND, 'access', 'templates', 'tenants', 'upkeep', 'verifications', 'wallet', 'webhooks'],
  dashboard: [
    ...GROUND,
    'access',
    'audit',
    'devices',
    'doctor',
    'templates',
    'tenants',
    'usage',
    'verifications',
    'wallet',
    'webhooks',
  ],
  demo: [...GROUND, 'access', 'audit', 'devices', 'sdk', 'templates', 'tenants', 'verifications', 'wallet'],
  // Browser code, but for serve.ts: of the server it takes types only, which the last test checks.
  web: [...GROUND, 'verifications', 'devices', 'usage', 'templates', 'dashboard', 'sandbox', 'demo'],
  upkeep: [...GROUND, 'audit', 'verifications'],
}

/** They put everything together; nobody imports them. */
const ENTRANCES = ['main', 'app', 'cli', 'periodic', 'deps']

type Import = { from: string; to: string; typeOnly: boolean }

test('every import follows the table of who may import whom', async () => {
  const imports = await allImports()
  expect(imports.length).toBeGreaterThan(100)
  expect(imports.filter(isForbidden).map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
})

/** A room with many tables has a store for each of its nouns beside it. */
const isStore = (path: string): boolean => /[/-]store\.ts$/.test(path)

test('only routes.ts reaches for the access plugin, and a store.ts is private to its feature', async () => {
  const foreign = (await allImports()).filter(({ from, to }) => {
    const feature = roomOf(to)
    if (to === 'access/plugin.ts') return !from.endsWith('routes.ts')
    // The one exception: wallet/ finishes the session it was given.
    if (from.startsWith('wallet/') && isStore(to) && feature === 'verifications') return false
    return isStore(to) && roomOf(from) !== feature && !ENTRANCES.includes(roomOf(from))
  })
  expect(foreign.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
})

test('SQL is spoken in store.ts and db/ only', async () => {
  const speakers = (await allImports()).filter(({ to, typeOnly }) => to === 'drizzle-orm' && !typeOnly).map(({ from }) => from)
  expect(speakers.filter(from => !from.startsWith('db/') && !isStore(from))).toEqual([])
})

test('names are looked up in one place, and never by getaddrinfo, which holds up signatures', async () => {
  const lookingUp = (await allImports()).filter(({ to }) => /^(?:node:)?dns(?:\/promises)?$/.test(to)).map(({ from }) => from)
  expect(lookingUp).toEqual(['webhooks/resolve.ts'])
  const resolver = await Bun.file(join(SRC, 'webhooks/resolve.ts')).text()
  expect(resolver).toContain("import { Resolver } from 'node:dns/promises'")
})

/** Run on either side: they ask for nothing that a browser lacks. */
const FOR_BOTH = ['sandbox/wallet.ts', 'sandbox/personas.ts', 'openid4vp/merge-claims.ts']

test('pages take nothing but types from the server, but for what is written for both sides', async () => {
  const taken = (await allImports()).filter(({ from, to, typeOnly }) => {
    if (!from.startsWith('web/') || from === 'web/serve.ts') return false
    return isOurs(to) && roomOf(to) !== 'web' && !typeOnly && !FOR_BOTH.includes(to)
  })
  expect(taken.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
})

test('the sdk imports itself only, but for the types of the wire, which are in one file', async () => {
  const imports = (await allImports()).filter(({ from }) => from.startsWith('sdk/'))
  const taken = imports.filter(({ to }) => roomOf(to) !== 'sdk')
  expect(taken.filter(({ from, to, typeOnly }) => from !== 'sdk/wire.ts' || !isOurs(to) || !typeOnly)).toEqual([])
  expect(taken.length).toBeGreaterThan(3)
  expect(imports.filter(({ from }) => from === 'sdk/webhook.ts')).toEqual([])
})

function isForbidden({ from, to, typeOnly }: Import): boolean {
  const room = roomOf(from)
  const target = roomOf(to)
  if (!isOurs(to) || room === target || ENTRANCES.includes(room)) return false
  if (target === 'deps') return !typeOnly
  // Every routes.ts may ask who is calling.
  if (to === 'access/plugin.ts' && from.endsWith('routes.ts')) return false
  return !ALLOWED[room]?.includes(target)
}

const isOurs = (path: string): boolean => /\.tsx?$/.test(path)

const roomOf = (path: string): string => path.split('/')[0]?.replace(/\.tsx?$/, '') ?? ''

async function allImports(): Promise<Import[]> {
  const files = await Array.fromAsync(new Bun.Glob('**/*.{ts,tsx}').scan(SRC))
  const found = await Promise.all(files.map(async file => importsOf(file, await Bun.file(join(SRC, file)).text())))
  return found.flat()
}

function importsOf(file: string, text: string): Import[] {
  return [...text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?from\s+)?'([^']+)'|import\('([^']+)'\)/gm)].map(
    ([, typeOnly, stated, lazy]) => ({
      from: file,
      to: pathOf(file, stated ?? lazy ?? ''),
      typeOnly: typeOnly !== undefined,
    }),
  )
}

function pathOf(file: string, specifier: string): string {
  if (specifier === '#db') return 'db/sqlite.ts'
  if (specifier === '#schema') return 'db/schema.ts'
  return specifier.startsWith('.') ? relative(SRC, resolve(SRC, dirname(file), specifier)) : specifier
}
