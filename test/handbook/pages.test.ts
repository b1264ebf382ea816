import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PAGES } from '../../src/handbook/contents.ts'
import { pageForTerminal } from '../../src/handbook/index.ts'
import type { Section } from '../../src/handbook/search.ts'
import { find } from '../../src/web/handbook/find.ts'
import { startApp } from '../helpers/app.ts'
import { vidimus } from '../helpers/command.ts'

const ROOT = resolve(import.meta.dir, '../..')
const ROOM = join(ROOT, 'src/handbook/pages')
const BYTES_MAX = 8192

const files = PAGES.flatMap(({ slug, file, german }) => [
  { slug, file },
  ...(german ? [{ slug: `${slug}.de`, file: german }] : []),
])
const pages = await Promise.all(files.map(async ({ slug, file }) => ({ slug, text: await Bun.file(file).text() })))
const GERMAN = PAGES.filter(({ german }) => german).map(({ slug }) => slug)
const app = await startApp()

describe('a page of the handbook', () => {
  test('every file of the room is a page', async () => {
    const found = await Array.fromAsync(new Bun.Glob('**/*.md').scan(ROOM))
    expect(found.map(file => file.replace(/\.md$/, '')).toSorted()).toEqual(pages.map(({ slug }) => slug).toSorted())
  })

  test('a page has one title, and at most 8 KB', () => {
    expect(
      pages.filter(({ text }) => text.match(/^# .+$/gm)?.length !== 1 && !text.includes('```')).map(({ slug }) => slug),
    ).toEqual([])
    expect(pages.filter(({ text }) => !/^# \S/.test(text)).map(({ slug }) => slug)).toEqual([])
    const long = pages.filter(({ text }) => Buffer.byteLength(text) > BYTES_MAX)
    expect(long.map(({ slug, text }) => `${slug}: ${Buffer.byteLength(text)}`)).toEqual([])
  })

  test('a page has no raw HTML', () => {
    const escaped = { noHtmlBlocks: true, noHtmlSpans: true }
    const raw = pages.filter(({ text }) => Bun.markdown.html(text) !== Bun.markdown.html(text, escaped))
    expect(raw.map(({ slug }) => slug)).toEqual([])
  })

  test('raw HTML would be shown as text', async () => {
    const { toHtml } = await import('../../src/handbook/markdown.ts')
    expect(toHtml('<img src=x onerror=alert(1)>\n\na <b>b</b> `<i>`', 'start', '../')).not.toMatch(/<(img|b|i)\b/)
  })
})

/** Served pages with their ids and links, by path. */
const served = new Map(
  await Promise.all(
    [
      '/docs',
      '/docs/api',
      ...PAGES.map(({ slug }) => `/docs/${slug}`),
      ...['', ...GERMAN.map(slug => `/${slug}`)].map(path => `/docs${path}?language=de`),
    ].map(async path => {
      const { status, text } = await app.call('GET', path)
      expect([path, status]).toEqual([path, 200])
      return [path, text] as const
    }),
  ),
)

test('every link of the handbook leads to a page of the service, and every anchor exists', async () => {
  const broken: string[] = []
  const others = new Set<string>()
  for (const [path, html] of served) {
    for (const [, href = ''] of html.matchAll(/<a\b[^>]*? href="([^"]+)"/g)) {
      const { origin, pathname, search, hash } = new URL(href, `https://service${path}`)
      if (origin !== 'https://service') continue
      const target = served.get(pathname + search) ?? served.get(pathname)
      if (target === undefined) others.add(pathname)
      else if (hash && !target.includes(`id="${decodeURIComponent(hash.slice(1))}"`)) broken.push(`${path}: ${href}`)
    }
  }
  expect(broken).toEqual([])
  for (const path of others) expect([path, (await app.call('GET', path)).status]).toEqual([path, 200])
})

test('every anchor of README is a heading of that page', async () => {
  const readme = await Bun.file(join(ROOT, 'README.md')).text()
  const links = [...readme.matchAll(/\]\(src\/handbook\/pages\/([^)#]+)\.md#([^)]+)\)/g)]
  expect(links.length).toBeGreaterThan(2)
  const broken = links.filter(([, slug, id]) => !served.get(`/docs/${slug}`)?.includes(`id="${id}"`))
  expect(broken.map(([link]) => link)).toEqual([])
})

test('every link to a file of the repository leads to one', () => {
  const missing = pages.flatMap(({ slug, text }) =>
    [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\((?!https?:|#|\/)([^)#\s]+)/g)]
      .map(([, path = '']) => join(ROOM, slug, '..', path))
      .filter(path => !existsSync(path)),
  )
  expect(missing).toEqual([])
})

describe('a page in German', () => {
  const read = async (path: string, language?: string) => {
    const { headers, text } = await app.call('GET', path, language ? { headers: { 'accept-language': language } } : {})
    return {
      text,
      lang: /<html lang="(\w+)"/.exec(text)?.[1],
      title: /<title>(.+?) ·/.exec(text)?.[1],
      vary: headers.get('vary'),
    }
  }
  const headingsOf = (html: string) => html.match(/<h[1-6] id="[^"]+"/g)
  const rowsOf = (html: string) => [...html.matchAll(/<table>[\s\S]*?<\/table>/g)].map(([table]) => table.split('<tr').length)

  test('a page has the same headings, anchors and rows of tables in both languages', () => {
    expect(GERMAN).toEqual(['till', 'dashboard'])
    for (const slug of GERMAN) {
      const [english = '', german = ''] = [served.get(`/docs/${slug}`), served.get(`/docs/${slug}?language=de`)]
      const titlesOf = (name: string) => pages.find(page => page.slug === name)?.text.match(/^#+ (?=.)/gm)
      expect([slug, titlesOf(`${slug}.de`)]).toEqual([slug, titlesOf(slug)])
      expect([slug, headingsOf(german)]).toEqual([slug, headingsOf(english)])
      expect([slug, rowsOf(german)]).toEqual([slug, rowsOf(english)])
    }
  })

  test('the language of a reader is that of the browser, unless the address names one', async () => {
    const [german, english] = [
      { lang: 'de', title: 'An der Kasse' },
      { lang: 'en', title: 'At the till' },
    ]
    expect(await read('/docs/till')).toMatchObject({ ...english, vary: expect.stringMatching(/accept-language/i) })
    expect(await read('/docs/till', 'de-AT,en;q=0.5')).toMatchObject(german)
    expect(await read('/docs/till', 'fr,de;q=0.5')).toMatchObject(english)
    expect(await read('/docs/till?language=de', 'en')).toMatchObject(german)
    expect(await read('/docs/till?language=en', 'de')).toMatchObject(english)
    expect(await read('/docs/till?language=fr', 'de')).toMatchObject(german)
    expect(await read('/docs/verdict?language=de')).toMatchObject({ lang: 'en', title: 'The verdict' })
  })

  test('a page in two languages leads to the other one, and only such a page', async () => {
    expect((await read('/docs/till')).text).toContain('href="?language=de" lang="de" hreflang="de">Deutsch</a>')
    expect((await read('/docs/till', 'de')).text).toContain('href="?language=en" lang="en" hreflang="en">English</a>')
    expect((await read('/docs/verdict', 'de')).text).not.toContain('hreflang')
  })

  test('links keep a language that was chosen, and name the pages that are in German', async () => {
    const { text } = await read('/docs/verdict?language=de')
    expect(text).toContain('<a href="../docs/till?language=de" lang="de">An der Kasse</a>')
    expect(text).toContain('<a href="../docs/webhooks?language=de" lang="en">Webhooks</a>')
    expect((await read('/docs/verdict')).text).toContain('<a href="../docs/till" lang="en">At the till</a>')
    expect((await read('/docs/till?language=de')).text).toContain('href="../docs/in-person?language=de"')
  })

  test('every word that a German page quotes is one of the German pages of the service', async () => {
    const sources = ['words/templates.ts', ...(await Array.fromAsync(new Bun.Glob('web/**/de.ts').scan(join(ROOT, 'src'))))]
    const all = (await Promise.all(sources.map(path => Bun.file(join(ROOT, 'src', path)).text()))).join('\n')
    for (const { slug, text } of pages.filter(page => page.slug.endsWith('.de'))) {
      const quoted = [...text.matchAll(/„([^“]+)“/g)].map(([, words = '']) => words.replace(/\s+/g, ' ').replace(/^… /, ''))
      expect(quoted.length).toBeGreaterThan(15)
      expect([slug, quoted.filter(each => !all.includes(each) && !OF_OTHERS.has(each))]).toEqual([slug, []])
    }
  })
})

/** Examples of what somebody types or has stored. */
const OF_OTHERS = new Set(['käs', 'Wein Käsemüller'])

describe('the handbook at /docs', () => {
  test('an unknown page is 404', async () => {
    for (const path of ['/docs/nothing', '/docs/recipes/nothing', '/docs/recipes'])
      expect((await app.call('GET', path)).status).toBe(404)
  })

  test('a page that the reader has is 304, and sets no cookie', async () => {
    for (const path of ['/docs/start', '/docs/search.json']) {
      const first = await app.call('GET', path)
      const etag = first.headers.get('etag') ?? ''
      const again = await app.call('GET', path, { headers: { 'if-none-match': etag } })
      expect([first.status, again.status, again.text]).toEqual([200, 304, ''])
      expect(first.headers.get('set-cookie')).toBeNull()
    }
  })

  test('a page that the reader has is 304 when a proxy made its tag weak, and in a list of tags', async () => {
    const etag = (await app.call('GET', '/docs/start')).headers.get('etag') ?? ''
    for (const tags of [`W/${etag}`, `"other", ${etag}`, `${etag}, "other"`])
      expect((await app.call('GET', '/docs/start', { headers: { 'if-none-match': tags } })).status).toBe(304)
    expect((await app.call('GET', '/docs/start', { headers: { 'if-none-match': 'W/"other", ""' } })).status).toBe(200)
  })

  test('the search index has every page, and a section for every heading and code', async () => {
    const { body } = await app.call<Section[]>('GET', '/docs/search.json')
    expect(new Set(body.map(({ page }) => page)).size).toBe(PAGES.length + GERMAN.length + 1)
    expect(body.find(({ id }) => id === 'status_unknown')).toMatchObject({
      page: 'verdict',
      title: 'The verdict',
      heading: 'status_unknown',
    })
    for (const { page, id } of body) if (id) expect(served.get(`/docs/${page}`)).toContain(`id="${id}"`)
  })

  test.each([
    ['forgot password', 'dashboard#a-forgotten-password-or-a-lost-phone'],
    ['lost phone', 'dashboard#a-forgotten-password-or-a-lost-phone'],
    ['offline', 'till#when-something-is-in-the-way'],
    ['change logo', 'dashboard#the-shops-look'],
    ['change color', 'dashboard#the-shops-look'],
    ['shop look', 'dashboard#the-shops-look'],
    ['letztes ergebnis zeigen', 'till?language=de#what-the-colours-mean'],
    ['telefon verloren', 'dashboard?language=de#a-forgotten-password-or-a-lost-phone'],
  ])('a search for "%s" leads first to the place that answers it', async (typed, place) => {
    const { body } = await app.call<Section[]>('GET', '/docs/search.json')
    const [first] = find(body, typed)
    expect(`${first?.page}#${first?.id}`).toBe(place)
  })
})

describe('vidimus help', () => {
  test('vidimus help lists every page, and prints one', async () => {
    const { stdout } = await vidimus('unused', ['help'])
    for (const { slug } of PAGES) expect(stdout).toContain(slug)
    const page = await vidimus('unused', ['help', 'verdict'])
    expect([page.exitCode, page.stdout]).toEqual([0, expect.stringContaining('Codes of a failure')])
    expect(page.stdout).not.toContain('\x1b')
    const { stdout: till } = await vidimus('unused', ['help', 'till'])
    expect(till).toContain('At the till')
    expect(till).not.toContain('An der Kasse')
  })

  test('vidimus help of a command without a page is its --help, and a typo gets a suggestion', async () => {
    expect((await vidimus('unused', ['help', 'trust', 'source'])).stdout).toStartWith('usage: vidimus trust source')
    expect(await vidimus('unused', ['help', 'verdct'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('did you mean verdict?'),
    })
  })

  test('a marker of a generated table is not printed', async () => {
    expect(await pageForTerminal('verdict', { colors: false, columns: 100 })).not.toContain('generated:')
  })
})
