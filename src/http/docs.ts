// The API reference. Its page is @elysiajs/swagger's, with our script where it would load Scalar from elsewhere: Swagger UI and a few lines
// that start it. The plugin is asked for its page instead of mounted, because mounted it also serves a document of its own that is not valid
// OpenAPI, and its page takes no headers of ours.
import { swagger } from '@elysiajs/swagger'
import { Elysia } from 'elysia'
import scriptFile from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import styleFile from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import type { Config } from '../config.ts'
import { describeRoutes, type Route } from './openapi.ts'

const HIDDEN = { detail: { hide: true } }

export function docsRoutes({ config }: { config: Config }, routes: () => readonly Route[]) {
  const reference = referencePage(config.publicUrl)
  let document: string | undefined
  // Not before it is asked for: until the service listens its public address may be unknown.
  const openApi = () => {
    document ??= JSON.stringify(describeRoutes(routes(), config.publicUrl))
    return document
  }

  return new Elysia()
    .get('/openapi.json', () => new Response(openApi(), { headers: { 'content-type': 'application/json' } }), HIDDEN)
    .get('/docs', async () => new Response(await reference(), { headers: PAGE_HEADERS }), HIDDEN)
    .get('/docs/reference.js', async () => asset('text/javascript', `${await Bun.file(scriptFile).text()}\n${START}`), HIDDEN)
    .get('/docs/reference.css', async () => asset('text/css', `${await Bun.file(styleFile).text()}\n${STYLE}`), HIDDEN)
}

function referencePage(publicUrl: string): () => Promise<string> {
  // The service may be published under a path.
  const base = publicUrl ? new URL(publicUrl).pathname.replace(/\/$/, '') : ''
  const plugin = swagger({
    path: '/docs',
    documentation: { info: { title: 'Vidimus API', description: 'API reference of Vidimus', version: '' } },
    scalarCDN: `${base}/docs/reference.js`,
    scalarConfig: { spec: { url: `${base}/openapi.json` }, customCss: `@import url(${base}/docs/reference.css);` },
  })
  return async () => (await plugin.handle(new Request('http://localhost/docs'))).text()
}

// The page's only inline script has no code: it carries the address of the document in its attributes.
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

const asset = (type: string, text: string) =>
  new Response(text, { headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=86400' } })

const START = `
document.documentElement.lang = 'en'
const dark = matchMedia('(prefers-color-scheme: dark)')
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followTheme)
followTheme()
SwaggerUIBundle({
  url: document.getElementById('api-reference').dataset.url,
  domNode: document.body.appendChild(document.createElement('main')),
  deepLinking: true,
  validatorUrl: null,
})
`

const STYLE = `
`
