// The page of @elysiajs/swagger to try out the API, with our script in place of Scalar from a CDN:
// Swagger UI and a few lines that start it. The plugin is called for its page and not mounted:
// mounted, it also serves a document of its own, which is not valid OpenAPI, and its page cannot
// get our headers. Our generator (openapi.ts) makes the document.
import { Elysia } from 'elysia'
import styleFile from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import scriptFile from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import type { Deps } from './deps.ts'
import type { OpenApi } from './openapi.ts'
import { takesFrom } from './plugin.ts'

const HIDDEN = { detail: { hide: true } }

export function docsRoutes(deps: Deps, document: () => OpenApi) {
  const { config } = deps
  const reference = once(() => referencePage(config.publicUrl))
  const script = once(() => fileWith(scriptFile, START))
  const style = once(() => fileWith(styleFile, STYLE))
  let text: string | undefined
  const openApi = () => {
    text ??= JSON.stringify(document())
    return text
  }

  return new Elysia()
    .onBeforeHandle(takesFrom(deps, 'page'))
    .get('/openapi.json', () => new Response(openApi(), { headers: { 'content-type': 'application/json' } }), HIDDEN)
    .get('/docs/api/try', async () => new Response(await reference(), { headers: PAGE_HEADERS }), HIDDEN)
    .get('/docs/reference.js', async () => asset('text/javascript', await script()), HIDDEN)
    .get('/docs/reference.css', async () => asset('text/css', await style()), HIDDEN)
}

async function referencePage(publicUrl: string): Promise<string> {
  // The service may be published under a path.
  const base = publicUrl ? new URL(publicUrl).pathname.replace(/\/$/, '') : ''
  // Imported on demand: it brings its own schema library.
  const { swagger } = await import('@elysiajs/swagger')
  const plugin = swagger({
    path: '/docs/api/try',
    documentation: { info: { title: 'Vidimus API', description: 'Try out the API of Vidimus', version: '' } },
    scalarCDN: `${base}/docs/reference.js`,
    scalarConfig: { spec: { url: `${base}/openapi.json` }, customCss: `@import url(${base}/docs/reference.css);` },
  })
  return (await plugin.handle(new Request('http://localhost/docs/api/try'))).text()
}

const fileWith = async (path: string, more: string): Promise<Blob> => new Blob([await Bun.file(path).bytes(), `\n${more}`])

/** Made on first request: most starts never show the page. Kept, because it takes milliseconds. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: T | undefined
  return async () => {
    made ??= await make()
    return made
  }
}

// The only inline script of the page has no code: its attributes hold the address of the document.
const EMPTY_SCRIPT = new Bun.CryptoHasher('sha256').update('\n    ').digest('base64')

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `script-src 'self' 'sha256-${EMPTY_SCRIPT}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
}

const asset = (type: string, content: Blob) =>
  new Response(content, { headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=86400' } })

// A seal, in the accent colour.
const SEAL =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">' +
  '<circle cx="8" cy="8" r="6" fill="none" stroke="#1f4fd8" stroke-width="3"/></svg>'

const START = `
document.documentElement.lang = 'en'
const icon = document.head.appendChild(document.createElement('link'))
icon.rel = 'icon'
icon.href = 'data:image/svg+xml,' + encodeURIComponent('${SEAL}')
const dark = matchMedia('(prefers-color-scheme: dark)')
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followTheme)
followTheme()
const back = document.body.appendChild(document.createElement('a'))
back.href = '../api'
back.className = 'back'
back.textContent = 'Back to the API reference'
SwaggerUIBundle({
  url: document.getElementById('api-reference').dataset.url,
  domNode: document.body.appendChild(document.createElement('main')),
  deepLinking: true,
  validatorUrl: null,
})
`

/** No column for links, which the document lacks; readable colours; one column on phones. */
const STYLE = `
.back { display: inline-block; margin: 16px 24px 0; color: #1f4fd8; font: 15px/1.5 system-ui, sans-serif; }
html.dark-mode .back { color: #7aa2ff; }
.swagger-ui .info { margin: 32px 0 16px; max-width: 76ch; }
.swagger-ui .scheme-container { padding: 16px 0; }
.swagger-ui .renderedMarkdown code { padding: 1px 4px; color: inherit; }
.swagger-ui .response-col_links { display: none; }
.swagger-ui .headers .header-col { color: inherit; }
html:not(.dark-mode) .swagger-ui {
  :is(.info a, .json-schema-2020-12-expand-deep-button) { color: #1f4fd8; }
  .btn.authorize, .btn.authorize :is(span, svg) { color: #0b6b3a; border-color: #0b6b3a; fill: #0b6b3a; }
  .btn.cancel { color: #b3261e; border-color: #b3261e; }
  :is(.parameter__in, .parameter__type) { color: inherit; }
  .parameter__name.required :is(span, span::after), .parameter__name.required::after { color: #b3261e; }
  .info .title small, .info .title small.version-stamp { background: #4a5163; }
  :is(.btn.execute, .opblock-get .opblock-summary-method) { background: #1f4fd8; border-color: #1f4fd8; }
  .opblock-post .opblock-summary-method { background: #0b6b3a; }
  .opblock-delete .opblock-summary-method { background: #b3261e; }
}
.swagger-ui .microlight span[style*="rgb(211, 99, 99)"] { color: #ff8a80 !important; }
html.dark-mode .swagger-ui .opblock .opblock-section-header .try-out__btn.cancel { color: #ff8a80; border-color: #ff8a80; }
@media (max-width: 640px) {
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { order: 1; flex-basis: 100%; padding: 0; }
  .swagger-ui :is(table, tbody, tr, td) { display: block; width: auto; max-width: 100%; }
  .swagger-ui thead, .swagger-ui .headers td:last-child { display: none; }
}
`
