// The handbook: pages at /docs in our own look, and as text for "vidimus help". Pages are rendered when they are first shown.
import type { OpenApi } from '../http/openapi.ts'
import type { StaffLanguage } from '../words/languages.ts'
import { GROUPS, PAGES } from './contents.ts'
import { frame, type Titled } from './frame.ts'
import { toHtml } from './markdown.ts'
import { sectionsOf } from './search.ts'

const REFERENCE = 'api'

export type Handbook = {
  /** The body of a page, or undefined when there is none. The empty slug is the table of contents, `api` the reference. */
  page(slug: string, reader: Reader): Promise<Shown | undefined>
  /** Every section of every page, as JSON for the search. */
  searchIndex(): Promise<string>
}

/** Pages that are not in German are shown in English. A choice travels along the links of a page. */
export type Reader = { language: StaffLanguage; hasChosen: boolean }

/** `language` is that of the article. */
export type Shown = { title: string; html: string; language: StaffLanguage }

/** The service of the reader: its address, and the command that started it. */
export type OwnService = { address: string; command: string }

/** `document` is that of the API. */
export function createHandbook(document: () => OpenApi, own: () => OwnService): Handbook {
  const rendered = new Map<string, Promise<Shown>>()
  const reference = once(async () => {
    // Imported on demand: most starts never show it.
    const { referenceArticle } = await import('./api.ts')
    return referenceArticle(document(), upFrom(REFERENCE))
  })
  const searchIndex = once(async () => {
    const pages = await Promise.all([
      ...PAGES.map(({ slug }) => sectionsOfPage(slug, 'en')),
      ...PAGES.filter(({ german }) => german).map(({ slug }) => sectionsOfPage(slug, 'de')),
    ])
    return JSON.stringify([...pages.flat(), ...sectionsOf(REFERENCE, 'API reference', await reference())])
  })

  const render = async (slug: string, reader: Reader): Promise<Shown> => {
    const contents = await readContents(reader.language)
    const show = (title: string, article: string, language: StaffLanguage = 'en', other?: StaffLanguage): Shown => {
      const html = frame({ slug, article, contents, language, other })
      return { title, html: reader.hasChosen ? withChoice(html, reader.language) : html, language }
    }
    if (slug === '') return show('Handbook', contentsPage(contents))
    if (slug === REFERENCE) return show('API reference', await reference())
    const language = languageOf(slug, reader.language)
    const other = language === 'de' ? 'en' : isInGerman(slug) ? 'de' : undefined
    const markdown = await readPage(slug, language)
    return show(titleOf(markdown), await articleOf(slug, language, text => filled(text, own())), language, other)
  }

  return {
    async page(slug, reader) {
      if (slug !== '' && slug !== REFERENCE && !PAGES.some(page => page.slug === slug)) return undefined
      const key = `${slug} ${reader.language} ${reader.hasChosen}`
      const known = rendered.get(key) ?? render(slug, reader)
      rendered.set(key, known)
      return await known
    },
    searchIndex,
  }
}

/** Links between pages of the handbook, and to their contents. */
const withChoice = (html: string, language: StaffLanguage): string =>
  html.replace(/(?<=<a [^>]*?href="(?:\.\.\/)*docs(?:\/[^"?#]*)?)(?=[#"])/g, `?language=${language}`)

const DEFAULT_ADDRESS = 'http://localhost:3000'

/** Blocks of code, as the reader can paste them. Text between them speaks of defaults. */
const filled = (markdown: string, { address, command }: OwnService): string =>
  markdown.replace(/^```[\s\S]*?^```/gm, block =>
    block.replaceAll(DEFAULT_ADDRESS, () => address).replace(/^vidimus(?= )/gm, () => command),
  )

/** A page for a terminal, or undefined when there is none. */
export async function pageForTerminal(slug: string, options: { colors: boolean; columns: number }): Promise<string | undefined> {
  if (!PAGES.some(page => page.slug === slug)) return undefined
  return Bun.markdown.ansi(await readPage(slug), options).trimEnd()
}

/** Every page with its title, by group: the list of "vidimus help". */
export async function readContents(language: StaffLanguage = 'en'): Promise<{ title: string; pages: Titled[] }[]> {
  return await Promise.all(
    GROUPS.map(async ({ title, pages }) => ({
      title,
      pages: await Promise.all(
        pages.map(async ({ slug }) => {
          const own = languageOf(slug, language)
          return { slug, language: own, ...introOf(await readPage(slug, own)) }
        }),
      ),
    })),
  )
}

const isInGerman = (slug: string): boolean => PAGES.some(page => page.slug === slug && page.german !== undefined)

const languageOf = (slug: string, wanted: StaffLanguage): StaffLanguage => (isInGerman(slug) ? wanted : 'en')

async function readPage(slug: string, language: StaffLanguage = 'en'): Promise<string> {
  const page = PAGES.find(each => each.slug === slug)
  return await Bun.file((language === 'de' ? page?.german : page?.file) ?? '').text()
}

async function articleOf(slug: string, language: StaffLanguage, fill = (markdown: string) => markdown): Promise<string> {
  const original = language === 'en' ? undefined : await readPage(slug)
  return toHtml(fill(await readPage(slug, language)), slug, upFrom(slug), original)
}

/** The title, and the first sentence under it. */
function introOf(markdown: string): Pick<Titled, 'title' | 'intro'> {
  const paragraph = /^# .+\n+(?!```)([^#|\n][\s\S]*?)\n\n/.exec(markdown)?.[1]?.replace(/\s+/g, ' ') ?? ''
  const sentence = /^.*?[.:](?= |$)/.exec(paragraph)?.[0] ?? paragraph
  return {
    title: titleOf(markdown),
    intro: sentence
      .replace(/:$/, '.')
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[`*]/g, ''),
  }
}

const titleOf = (markdown: string): string => /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? ''

const sectionsOfPage = async (slug: string, language: StaffLanguage) =>
  sectionsOf(
    language === 'en' ? slug : `${slug}?language=${language}`,
    titleOf(await readPage(slug, language)),
    await articleOf(slug, language),
  )

/** The relative path from a page to the root of the service. */
const upFrom = (slug: string): string => (slug === '' ? '' : '../'.repeat(slug.split('/').length))

function contentsPage(contents: Awaited<ReturnType<typeof readContents>>): string {
  const groups = contents.map(({ title, pages }) => {
    const items = pages.map(
      page =>
        `<li lang="${page.language}"><a href="docs/${page.slug}">${Bun.escapeHTML(page.title)}</a><p>${Bun.escapeHTML(page.intro)}</p></li>`,
    )
    return `<h2>${Bun.escapeHTML(title)}</h2><ul class="contents">${items.join('')}</ul>`
  })
  return `<h1>Handbook</h1><p>Everything about this version of Vidimus. It is part of the program and needs no internet; “vidimus help” prints the same pages in a terminal.</p>${groups.join('')}`
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return async () => {
    made ??= make()
    return await made
  }
}
