// Every page with all that it refers to, as a browser would fetch it: each must be there, of its type, under a policy, and from here.
import { must } from './program.ts'

/** Content types by extension. */
const TYPES: Record<string, RegExp> = {
  js: /^text\/javascript/,
  css: /^text\/css/,
  svg: /^image\/svg\+xml/,
  png: /^image\/png/,
  woff2: /^font\/woff2/,
  json: /^application\/json/,
  webmanifest: /^application\/manifest\+json/,
}

/** Gives how many files were fetched. */
export async function checkPage(base: string, path: string): Promise<number> {
  const page = await fetch(new URL(path, base))
  const html = await page.text()
  must(page.status === 200, `${path} answers ${page.status}`)
  must(page.headers.get('content-type')?.startsWith('text/html') === true, `${path} is no page`)
  must(/default-src 'none'/.test(page.headers.get('content-security-policy') ?? ''), `${path} has no strict policy`)
  const seen = new Set<string>()
  const waiting = referencesIn(html, page.url)
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (seen.has(url)) continue
    seen.add(url)
    must(new URL(url).origin === new URL(base).origin, `${path} refers to ${url}`)
    waiting.push(...(await checkFile(url)))
  }
  must(seen.size > 1, `${path} refers to no script and style`)
  return seen.size + 1
}

async function checkFile(url: string): Promise<string[]> {
  const answer = await fetch(url)
  const body = await answer.text()
  const { pathname } = new URL(url)
  const type = answer.headers.get('content-type') ?? ''
  must(answer.status === 200 && body.length > 0, `${pathname} answers ${answer.status} with ${body.length} characters`)
  const wanted = TYPES[pathname.split('.').at(-1) ?? '']
  must(wanted?.test(type) === true, `${pathname} is of type ${type}`)
  must(answer.headers.get('x-content-type-options') === 'nosniff', `${pathname} may be taken for another type`)
  must(answer.headers.has('content-security-policy'), `${pathname} has no policy`)
  if (type.startsWith('text/css') || type.startsWith('application/manifest')) return referencesIn(body, answer.url)
  return []
}

const REFERENCES = [
  /<(?:script|img|source)\b[^>]*?\ssrc="([^"]+)"/g,
  /<link\b[^>]*?\shref="([^"]+)"/g,
  /\bdata-url="([^"]+)"/g,
  /\burl\(['"]?([^'")]+)['"]?\)/g,
  /"src":"([^"]+)"/g,
]

const referencesIn = (text: string, from: string): string[] =>
  REFERENCES.flatMap(pattern => [...text.matchAll(pattern)].map(([, reference]) => reference ?? ''))
    .filter(reference => !reference.startsWith('data:') && !reference.startsWith('#'))
    .map(reference => new URL(reference, from).href)
