// Who may import whom: arrows point from the doors to the cores and never back. A feature uses another feature's verb, never its
// table, and no file reaches itself again through what it imports, not even by types.
import { expect, test } from 'bun:test'
import { dirname, join, relative, resolve } from 'node:path'

const SRC = resolve(import.meta.dir, '../src')

const PURE = ['base', 'variables', 'words', 'openid4vp', 'trust-lists']
const BASE = [...PURE, 'config', 'db', 'session-keys', 'egress', 'http']
const GROUND = [...BASE, 'ground']
/** `audit` comes first: every act of a feature is on its chain. */
const FIRST = [...GROUND, 'audit']
const SECOND = [...FIRST, 'tenants', 'templates', 'usage', 'guesses', 'devices', 'access']
const THIRD = [...SECOND, 'signing', 'trust', 'webhooks']
const VERBS = [...THIRD, 'verifications', 'people', 'oidc', 'dashboard', 'doctor', 'upkeep', 'demo', 'alerts']

const ALLOWED: Record<string, string[]> = {
  // Why a text is refused is said in words.
  base: ['words'],
  variables: ['base'],
  words: [],
  openid4vp: ['base'],
  'trust-lists': ['base', 'openid4vp'],
  // Only sessions read phones in person: the phone of the sandbox stays foreign.
  proximity: ['base', 'openid4vp'],
  // It is published by itself: it takes types of the wire, all in one file, which a test below checks.
  sdk: ['http', 'verifications', 'devices', 'templates', 'usage'],
  // VIDIMUS_EGRESS_ALLOW and VIDIMUS_TRUSTED_PROXIES are address ranges; VIDIMUS_DATABASE_URL is read in db/.
  config: [...PURE, 'egress', 'db'],
  db: PURE,
  'session-keys': [...PURE, 'db'],
  egress: PURE,
  http: [...PURE, 'config', 'egress'],
  ground: BASE,
  audit: GROUND,
  tenants: FIRST,
  templates: FIRST,
  usage: FIRST,
  guesses: FIRST,
  devices: [...FIRST, 'tenants', 'templates', 'guesses'],
  access: [...FIRST, 'tenants', 'guesses', 'devices'],
  signing: SECOND,
  trust: SECOND,
  webhooks: [...SECOND, 'sdk'],
  verifications: [...THIRD, 'proximity'],
  people: [...THIRD, 'verifications'],
  oidc: [...THIRD, 'verifications'],
  // Its examples are answered by the sandbox's wallet.
  dashboard: [...VERBS, 'sandbox'],
  // Mail says what the page Health says.
  alerts: [...VERBS, 'web'],
  doctor: VERBS,
  upkeep: VERBS,
  demo: [...VERBS, 'sdk'],
  // The other side of the protocol: it takes only types of openid4vp, which test/sandbox/browser.test.ts checks.
  sandbox: GROUND,
  handbook: ['http', 'words'],
  // Browser code except serve.ts: it takes only types of the server, which a test below checks.
  web: [...VERBS, 'sandbox', 'handbook', 'sdk'],
}

/** They put everything together; nobody imports them, but for the doors further out. */
const ENTRANCES = ['main', 'app', 'cli', 'service', 'deps']
/** The service runs without the command line. */
const INNER = ['app', 'service', 'deps']

type Import = { from: string; to: string; typeOnly: boolean }

test('every import follows the table of who may import whom', async () => {
  const imports = await allImports()
  expect(imports.length).toBeGreaterThan(100)
  expect(imports.filter(isForbidden).map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
})

test('no file imports itself through others, by types either', async () => {
  expect(circlesIn(await allImports())).toEqual([])
})

test('a circle of imports is found', () => {
  const ring = ['a.ts', 'b.ts', 'c.ts', 'a.ts'].flatMap((from, i, all) =>
    all[i + 1] ? [{ from, to: all[i + 1]!, typeOnly: true }] : [],
  )
  expect(circlesIn([...ring, { from: 'x.ts', to: 'a.ts', typeOnly: false }])).toEqual(['a.ts -> b.ts -> c.ts -> a.ts'])
})

/** Each circle once, by the way that was found first. */
function circlesIn(imports: Import[]): string[] {
  const targets = Map.groupBy(
    imports.filter(({ to }) => isOurs(to)),
    ({ from }) => from,
  )
  const done = new Set<string>()
  const way: string[] = []
  const circles: string[] = []
  const visit = (file: string) => {
    const start = way.indexOf(file)
    if (start >= 0) return void circles.push([...way.slice(start), file].join(' -> '))
    if (done.has(file)) return
    way.push(file)
    for (const { to } of targets.get(file) ?? []) visit(to)
    way.pop()
    done.add(file)
  }
  for (const file of targets.keys()) visit(file)
  return circles
}

/** A room with many tables has a store for each of its nouns beside it. */
const isStore = (path: string): boolean => /[/-]store\.ts$/.test(path)

/** They still read the table of sessions themselves. */
const READERS = ['cli/listen.ts', 'service/gauges.ts']

test('only routes.ts reaches for the access plugin, and a store.ts is private to its feature', async () => {
  const foreign = (await allImports()).filter(({ from, to }) => {
    const feature = roomOf(to)
    if (to === 'access/plugin.ts') return !from.endsWith('routes.ts')
    if (to === 'verifications/store.ts' && READERS.includes(from)) return false
    return isStore(to) && roomOf(from) !== feature
  })
  expect(foreign.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
})

test('SQL is spoken in store.ts and db/ only', async () => {
  const speakers = (await allImports()).filter(({ to, typeOnly }) => to === 'drizzle-orm' && !typeOnly).map(({ from }) => from)
  expect(speakers.filter(from => !from.startsWith('db/') && !isStore(from))).toEqual([])
})

test('no file outside db/ imports what is for one engine', async () => {
  const ofOne = (await allImports()).filter(({ to }) => /^db\/(?:sqlite|postgres)\//.test(to) || to === 'bun:sqlite')
  expect(ofOne.length).toBeGreaterThan(100)
  expect(ofOne.filter(({ from }) => !from.startsWith('db/')).map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
})

/** There a node is one of a tree, and a heart beats in a page. */
const OTHER_NODES = /^(?:openid4vp|trust-lists|web|sandbox|sdk)\//
const NODE = /\b(?:[Nn]odes?|[Bb]eats?|[Hh]eartbeats?)\b(?!:)|\b(?:node|beat)[A-Z]|[a-z](?:Nodes?|Beats?|Beating|Heartbeats?)\b/g

test('a reader of SQLite meets no node and no beat outside db/, and no life in what db/ offers', async () => {
  const files = await Array.fromAsync(new Bun.Glob('**/*.ts').scan(SRC))
  const own = files.filter(file => !file.startsWith('db/') && !OTHER_NODES.test(file))
  expect(own.length).toBeGreaterThan(300)
  const met = await Promise.all(own.map(async file => ({ file, words: (await wordsOf(file)).match(NODE) })))
  expect(met.filter(({ words }) => words !== null)).toEqual([])
  expect((await wordsOf('db/engine.ts')).match(/\b(?:nodes?|lives|life|beats?)\b/gi)).toBeNull()
})

/** Without texts: commands and pages speak of nodes to those who have some. */
const wordsOf = async (file: string): Promise<string> =>
  (await Bun.file(join(SRC, file)).text()).replace(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, "''")

test('only db/ asks which database it is', async () => {
  const asking = (await allImports()).filter(({ to }) => to === 'db/dialect.ts').map(({ from }) => from)
  expect(asking.length).toBeGreaterThan(2)
  expect(asking.filter(from => !from.startsWith('db/'))).toEqual([])
})

test('stores speak SQL that SQLite and PostgreSQL both take', async () => {
  const stores = (await Array.fromAsync(new Bun.Glob('**/*store.ts').scan(SRC))).filter(isStore)
  expect(stores.length).toBeGreaterThan(10)
  for (const store of stores) {
    const text = await Bun.file(join(SRC, store)).text()
    const found = [/\browid\b/, /\bx''/, /sql`\s*\+/, /\.run\(/, /\.get\(/, /onConflictDo\w+\(\)/, /sql<number>`/].filter(each =>
      each.test(text),
    )
    expect({ store, found: found.map(String) }).toEqual({ store, found: [] })
  }
})

test('names are looked up in one place, and never by getaddrinfo, which holds up signatures', async () => {
  const lookingUp = (await allImports()).filter(({ to }) => /^(?:node:)?dns(?:\/promises)?$/.test(to)).map(({ from }) => from)
  expect(lookingUp).toEqual(['egress/resolve.ts'])
  const resolver = await Bun.file(join(SRC, 'egress/resolve.ts')).text()
  expect(resolver).toContain("import { Resolver } from 'node:dns/promises'")
})

/** Run on either side: they ask for nothing that a browser lacks. */
const FOR_BOTH = [
  'base/nearest.ts',
  'base/stale-list.ts',
  'openid4vp/merge-claims.ts',
  'sandbox/phone/phone.ts',
  'sandbox/wallet/dc-wallet.ts',
  'sandbox/personas.ts',
  'sandbox/wallet/wallet.ts',
  'sdk/wallet-call.ts',
  'templates/purpose.ts',
  'tenants/contrast.ts',
  'words/languages.ts',
  'words/plain-text.ts',
  'words/signing.ts',
  'words/templates.ts',
]

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
  expect(imports.filter(({ from }) => ['sdk/webhook.ts', 'sdk/wallet-call.ts'].includes(from))).toEqual([])
})

function isForbidden({ from, to }: Import): boolean {
  const room = roomOf(from)
  const target = roomOf(to)
  if (INNER.includes(room) && ['cli', 'main'].includes(target)) return true
  if (!isOurs(to) || room === target || ENTRANCES.includes(room)) return false
  if (to === 'access/deps.ts' && /(?:deps|routes)\.ts$/.test(from)) return false
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
  return [
    ...text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?from\s+)?'([^']+)'|(?:import|getBuiltinModule)\('([^']+)'\)/gm),
  ].map(([, typeOnly, stated, lazy]) => ({
    from: file,
    to: pathOf(file, stated ?? lazy ?? ''),
    typeOnly: typeOnly !== undefined,
  }))
}

function pathOf(file: string, specifier: string): string {
  return specifier.startsWith('.') ? relative(SRC, resolve(SRC, dirname(file), specifier)) : specifier
}
