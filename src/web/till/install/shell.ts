// Makes the till installable. Unlike the assets, these files have fixed addresses.
import { Elysia } from 'elysia'
import { drawIcon } from './icon.ts'
import worker from './service-worker.js' with { type: 'text' }

const ICON_SIZES = [180, 192, 512]

/** All addresses are relative: the service may be under a path. */
const MANIFEST = {
  name: 'Vidimus till',
  short_name: 'Till',
  description: 'Checks what a customer may prove with a wallet.',
  id: '../till',
  start_url: '../till',
  scope: '../till',
  display: 'standalone',
  orientation: 'any',
  background_color: '#12141a',
  theme_color: '#12141a',
  icons: ICON_SIZES.slice(1).flatMap(size =>
    ['any', 'maskable'].map(purpose => ({ src: `icon-${size}.png`, sizes: `${size}x${size}`, type: 'image/png', purpose })),
  ),
}

const HIDDEN = { detail: { hide: true } }

/** `shell` is the current page with the names of its assets. */
export function tillShell(shell: () => Promise<{ html: string; assets: Iterable<string> }>) {
  const app = new Elysia({ prefix: '/till' })
    .get('/manifest.webmanifest', () => new Response(JSON.stringify(MANIFEST), { headers: MANIFEST_HEADERS }), HIDDEN)
    .get('/service-worker.js', async () => new Response(workerFor(await shell()), { headers: WORKER_HEADERS }), HIDDEN)
  for (const size of ICON_SIZES) {
    let icon: Uint8Array<ArrayBuffer> | undefined
    app.get(
      `/icon-${size}.png`,
      () => {
        icon ??= new Uint8Array(drawIcon(size))
        return new Response(icon, { headers: ICON_HEADERS })
      },
      HIDDEN,
    )
  }
  return app
}

const MANIFEST_HEADERS = { 'content-type': 'application/manifest+json', 'cache-control': 'no-cache' }
const ICON_HEADERS = { 'content-type': 'image/png', 'cache-control': 'public, max-age=86400' }
const WORKER_HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'no-cache',
  // /till has no slash at its end, so it is outside the worker's folder.
  'service-worker-allowed': '../till',
  'content-security-policy': "default-src 'none'; connect-src 'self'",
}

/** The file changes with the page: that is how browsers notice a new version. */
function workerFor({ html, assets }: { html: string; assets: Iterable<string> }): string {
  const version = new Bun.CryptoHasher('sha256').update(html).digest('hex').slice(0, 16)
  return `const SHELL = ${JSON.stringify({ version, assets: [...assets] })}\n${worker}`
}
