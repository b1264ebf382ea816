// The pages and their assets. In the binary an HTML import is a list of built files; from source it
// is a path, built at the first request and again when a file of src/web is newer. We serve both
// ourselves: Bun's own serving would bypass our hooks and headers.
import { statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { HTMLBundle } from 'bun'
import { Elysia } from 'elysia'
import { sha256Hex } from '../base/hash.ts'
import { describeFailure } from '../base/log.ts'
import type { Configured, Ground, Reading, Reporting } from '../ground.ts'
import type { Handbook, Reader, Shown } from '../handbook/index.ts'
import { apiError } from '../http/errors.ts'
import { takesFrom } from '../http/plugin.ts'
import { pathOf } from '../http/routing.ts'
import { hasAnchor } from '../trust/settings.ts'
import { preferredLanguage } from '../words/languages.ts'
import dashboard from './dashboard/index.html'
import { VIEWS_WITH_PARTS } from './dashboard/view-names.ts'
import demo from './demo/index.html'
import handbookPage from './handbook/index.html'
import hosted from './hosted/index.html'
import login from './login/index.html'
import lost from './lost/index.html'
import sandbox from './sandbox/index.html'
import till from './till/index.html'
import { tillShell } from './till/install/shell.ts'
import verify from './verify/index.html'
import verifySandbox from './verify/sandbox.html'

type Page = {
  bundle: HTMLBundle
  paths: readonly string[]
  /** Differences from POLICY. */
  policy?: Record<string, string>
  usesCamera?: true
  /** Asks wallets through the browser, and through the popup that stands for one. */
  asksWallets?: true
  /** Reads phones by Bluetooth. */
  readsPhones?: true
  /** Keeps its opener, of any origin: it stands for the wallet of a browser. */
  isPopup?: true
  /** Served only in the demo, or framed by it. */
  inDemo?: 'only' | 'framed'
}

const PAGES: readonly Page[] = [
  { bundle: hosted, paths: ['/v/:id'], asksWallets: true },
  { bundle: dashboard, paths: ['/dashboard', '/dashboard/:view', ...VIEWS_WITH_PARTS.map(view => `/dashboard/${view}/:id`)] },
  { bundle: sandbox, paths: ['/sandbox'], usesCamera: true, isPopup: true, inDemo: 'framed' },
  { bundle: demo, paths: ['/demo'], usesCamera: true, readsPhones: true, policy: { 'frame-src': "'self'" }, inDemo: 'only' },
  {
    bundle: till,
    paths: ['/till'],
    usesCamera: true,
    asksWallets: true,
    readsPhones: true,
    policy: { 'manifest-src': "'self'", 'worker-src': "'self'", 'trusted-types': 'till' },
    inDemo: 'framed',
  },
  // Filled below, by the server.
  { bundle: handbookPage, paths: [] },
]

/** The page for unknown paths. */
const LOST: Page = { bundle: lost, paths: [] }

/** Pages of a log-in: the way back, and refusals. */
const LOGIN: Page = { bundle: login, paths: [] }

const HIDDEN = { detail: { hide: true } }

export function webPages(deps: Ground, handbook: Handbook, isDemo: boolean) {
  const { hasSandbox } = deps.config
  const app = new Elysia()
    .onBeforeHandle(takesFrom(deps, 'page'))
    .get('/assets/:name', ({ params }) => serveAsset(params.name), HIDDEN)
    .get('/verify.js', ({ request }) => serveScript(verify, request), HIDDEN)
    .get('/verify-sandbox.js', ({ request }) => serveScript(verifySandbox, request), HIDDEN)
    // Relative, as below.
    .get('/', ({ redirect }) => redirect(isDemo ? 'demo' : 'dashboard', 302), HIDDEN)
  app.use(tillShell(async () => ({ ...(await builtOf(till)), assets: (await builtOf(till)).assets.keys() })))
  const isServed = ({ bundle, inDemo }: Page) => (isDemo || inDemo !== 'only') && (hasSandbox || bundle !== sandbox)
  for (const page of PAGES.filter(isServed)) {
    const headers = headersOf(page, isDemo && page.inDemo === 'framed')
    for (const path of page.paths)
      app.get(path, async ({ request }) => servePage(page, request.url, headers, await marksOf(deps)), HIDDEN)
  }
  const headers = { ...headersOf({ bundle: handbookPage, paths: [] }, false), vary: 'accept-language' }
  const show =
    (slug: string) =>
    async ({ request, query }: Asked) =>
      await serveFilled(request, headers, await handbook.page(slug, readerOf(request, query.language)))
  return app
    .get('/docs', show(''), HIDDEN)
    .get('/docs/:page', ({ params, ...asked }) => show(params.page)(asked), HIDDEN)
    .get('/docs/recipes/:page', ({ params, ...asked }) => show(`recipes/${params.page}`)(asked), HIDDEN)
    .get('/docs/search.json', async ({ request }) => tagged(request, SEARCH_HEADERS, await handbook.searchIndex()), HIDDEN)
}

type Asked = { request: Request; query: Record<string, string> }

/** What the address says is chosen; else the browser's language counts. */
function readerOf({ headers }: Request, chosen: string | undefined): Reader {
  if (chosen === 'en' || chosen === 'de') return { language: chosen, hasChosen: true }
  return { language: preferredLanguage(headers.get('accept-language')) === 'de' ? 'de' : 'en', hasChosen: false }
}

const SEARCH_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-cache' }

/** A page whose body is made here: it can be read without a script. */
async function serveFilled(request: Request, headers: Record<string, string>, page: Shown | undefined) {
  if (!page) throw apiError('not_found')
  const html = (await withAssets(handbookPage, request.url))
    .replace('<html lang="en"', `<html lang="${page.language}"`)
    .replace('<title>Vidimus</title>', () => `<title>${Bun.escapeHTML(page.title)} · Vidimus</title>`)
    .replace('<div id="app"></div>', () => page.html)
  return tagged(request, headers, html)
}

/** RFC 9110 § 13.1.2: a list, compared weakly. Proxies that compress add `W/`. */
const isListed = (headers: Headers, etag: string): boolean => headers.get('if-none-match')?.includes(etag) ?? false

/** 304 for a reader who has it already. */
function tagged(request: Request, headers: Record<string, string>, body: string): Response {
  const etag = `"${sha256Hex(body).slice(0, 32)}"`
  const isKnown = isListed(request.headers, etag)
  return new Response(isKnown ? null : body, { status: isKnown ? 304 : 200, headers: { ...headers, etag } })
}

/** For browsers; programs get the error as JSON. */
export async function serveLost(url: string): Promise<Response> {
  // Relative: the service may be published under a path.
  if (pathOf(url) === '/dashboard/') return new Response(null, { status: 302, headers: { location: '../dashboard' } })
  const page = await servePage(LOST, url, { ...headersOf(LOST, false), 'cache-control': 'no-store' }, '')
  return new Response(page.body, { status: 404, headers: page.headers })
}

type Refusal = { reason: string; status: number; headers?: Record<string, string> }

/** The way back from a log-in or, with a reason, the end of one that leads nowhere. */
export async function serveLogin(url: string, refusal?: Refusal): Promise<Response> {
  const { reason, status = 200, headers }: Partial<Refusal> = refusal ?? {}
  const marks = reason ? ` data-reason="${reason}"` : ''
  const page = await servePage(LOGIN, url, { ...headersOf(LOGIN, false), 'cache-control': 'no-store', ...headers }, marks)
  return new Response(page.body, { status, headers: page.headers })
}

/** Read by shared/base.ts. */
async function marksOf(deps: Reading & Reporting & Configured): Promise<string> {
  const hasAnchors = await hasAnchor(deps, 'test').catch((error: unknown) => {
    // The page says itself what does not work.
    deps.log.debug('page.anchors_unknown', { failure: describeFailure(error) })
    return false
  })
  return `${deps.config.hasSandbox ? '' : ' data-sandbox="off"'}${hasAnchors ? ' data-test-anchors="own"' : ''}`
}

async function servePage({ bundle }: Page, url: string, headers: Record<string, string>, marks: string): Promise<Response> {
  return new Response((await withAssets(bundle, url)).replace('<html', `<html${marks}`), { headers })
}

async function withAssets(bundle: HTMLBundle, url: string): Promise<string> {
  const { html, assets } = await builtOf(bundle)
  const up = '../'.repeat(depthOf(url))
  const names = [...assets.keys()].join('|').replaceAll('.', '\\.')
  // Relative: the service may be published under a path.
  return html.replace(new RegExp(`"\\.?/(${names})"`, 'g'), `"${up}assets/$1"`)
}

/** The number of folders between the root of the service and the page. */
const depthOf = (url: string): number =>
  (url
    .replace(/^[a-z]+:\/\/[^/]*/, '')
    .split('?', 1)[0]
    ?.split('/').length ?? 2) - 2

async function serveAsset(name: string): Promise<Response> {
  const bundles = [...[...PAGES, LOST, LOGIN].map(({ bundle }) => bundle), verify]
  // Pages that are built already come first: an asset is requested after its page.
  for (const bundle of bundles.toSorted((a, b) => Number(known.has(b)) - Number(known.has(a)))) {
    const asset = (await builtOf(bundle)).assets.get(name)
    if (asset) return new Response(asset.content, { headers: { ...ASSET_HEADERS, 'content-type': asset.type } })
  }
  throw apiError('not_found')
}

/** A script for the pages of shops. Its address stays the same, so browsers ask whether it has changed. */
async function serveScript(bundle: HTMLBundle, { headers }: Request): Promise<Response> {
  const { assets } = await builtOf(bundle)
  const [[name, { content, type }] = missing()] = [...assets].filter(([name]) => name.endsWith('.js'))
  // The name of an asset has the hash of its content.
  const etag = `"${name}"`
  const isKnown = isListed(headers, etag)
  const common = { ...SHOP_HEADERS, etag }
  return isKnown
    ? new Response(null, { status: 304, headers: common })
    : new Response(content, { headers: { ...common, 'content-type': type } })
}

const missing = (): never => {
  throw new Error('the script was not built')
}

/** Modules of another origin are fetched with CORS. */
const SHOP_HEADERS = {
  'cache-control': 'public, no-cache',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
}

const ASSET_HEADERS = { 'cache-control': 'public, max-age=31536000, immutable' }

const POLICY: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'object-src': "'none'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
}

const headersOf = (
  { policy, usesCamera, asksWallets, readsPhones, isPopup }: Page,
  isFramed: boolean,
): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy': Object.entries({ ...POLICY, ...policy, ...(isFramed && { 'frame-ancestors': "'self'" }) })
    .map(directive => directive.join(' '))
    .join('; '),
  'cross-origin-opener-policy': isPopup ? 'unsafe-none' : asksWallets ? 'same-origin-allow-popups' : 'same-origin',
  'permissions-policy': [
    `camera=(${usesCamera ? 'self' : ''})`,
    `bluetooth=(${readsPhones ? 'self' : ''})`,
    `digital-credentials-get=(${asksWallets ? 'self' : ''})`,
    'digital-credentials-create=(), microphone=(), geolocation=(), payment=(), usb=()',
  ].join(', '),
})

type Asset = { content: Blob; type: string }
type Built = { html: string; assets: ReadonlyMap<string, Asset> }

/** Shared by the whole process: the sources are the same for every app in it. */
const known = new Map<HTMLBundle, { at: number; built: Promise<Built> }>()

function builtOf(bundle: HTMLBundle): Promise<Built> {
  const kept = known.get(bundle)
  const at = bundle.files ? 0 : newestChange()
  if (kept && kept.at >= at) return kept.built
  const built = bundle.files ? embedded(bundle.files) : build(bundle.index)
  known.set(bundle, { at, built })
  return built
}

/** A page and its assets are requested together: the files are looked at once for all of them. */
const LOOK_MS = 100
let looked = { at: Number.NEGATIVE_INFINITY, newest: 0 }

function newestChange(): number {
  const at = performance.now()
  if (at - looked.at < LOOK_MS) return looked.newest
  const files = [...new Bun.Glob('**/*').scanSync(import.meta.dir)]
  looked = { at, newest: Math.max(...files.map(file => statSync(join(import.meta.dir, file)).mtimeMs)) }
  return looked.newest
}

async function embedded(files: NonNullable<HTMLBundle['files']>): Promise<Built> {
  const page = files.find(({ loader }) => loader === 'html')
  const assets = files.filter(file => file !== page)
  return {
    html: await Bun.file(page?.path ?? '').text(),
    assets: new Map(
      assets.map(({ path, headers }) => [basename(path), { content: Bun.file(path), type: headers['content-type'] }]),
    ),
  }
}

async function build(index: string): Promise<Built> {
  const { outputs } = await Bun.build({
    entrypoints: [index],
    minify: true,
    // As in the binary: leaves out Preact's development helpers.
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const page = outputs.find(({ path }) => path.endsWith('.html'))
  const assets = outputs.filter(output => output !== page)
  return {
    html: (await page?.text()) ?? '',
    assets: new Map(assets.map(output => [basename(output.path), { content: output, type: output.type }])),
  }
}
