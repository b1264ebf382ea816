// The handbook: pages at /docs in our own look, and as text for "vidimus help". Pages are rendered when they are first shown.
import type { OpenApi } from '../http/openapi.ts'
import { GROUPS, PAGES } from './contents.ts'
import { frame, type Titled } from './frame.ts'
import { toHtml } from './markdown.ts'
import { sectionsOf } from './search.ts'

const REFERENCE = 'api'

export type Handbook = {
  /** The body of a page, or undefined when there is none. The empty slug is the table of contents, `api` the reference. */
  page(slug: string): Promise<{ title: string; html: string } | undefined>
  /** Every section of every page, as JSON for the search. */
  searchIndex(): Promise<string>
}

/** The service of the reader: its address, and the command that started it. */
export type OwnService = { address: string; command: string }

/** `document` is that of the API. */
export function createHandbook(document: () => OpenApi, own: () => OwnService): Handbook {
  const rendered = new Map<string, Promise<{ title: string; html: string }>>()
  const contents = once(readContents)
  const reference = once(async () => {
    // Imported on demand: most starts never show it.
    const { referenceArticle } = await import('./api.ts')
    return referenceArticle(document(), upFrom(REFERENCE))
  })
  const searchIndex = once(async () => {
    const pages = await Promise.all(PAGES.map(sectionsOfPage))
    return JSON.stringify([...pages.flat(), ...sectionsOf(REFERENCE, 'API reference', await reference())])
  })

  const render = async (slug: string) => {
    const all = await contents()
    if (slug === '') return { title: 'Handbook', html: frame({ slug, article: contentsPage(all), contents: all }) }
    if (slug === REFERENCE) return { title: 'API reference', html: frame({ slug, article: await reference(), contents: all }) }
    const markdown = await readPage(slug)
    const title = titleOf(markdown)
    return { title, html: frame({ slug, article: toHtml(filled(markdown, own()), slug, upFrom(slug)), contents: all }) }
  }

  return {
    async page(slug) {
      if (slug !== '' && slug !== REFERENCE && !PAGES.some(page => page.slug === slug)) return undefined
      const known = rendered.get(slug) ?? render(slug)
      rendered.set(slug, known)
      return await known
    },
    searchIndex,
  }
}

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
export async function readContents(): Promise<{ title: string; pages: Titled[] }[]> {
  return await Promise.all(
    GROUPS.map(async ({ title, pages }) => ({
      title,
      pages: await Promise.all(pages.map(async ({ slug }) => ({ slug, ...introOf(await readPage(slug)) }))),
    })),
  )
}

const readPage = async (slug: string): Promise<string> =>
  await Bun.file(PAGES.find(page => page.slug === slug)?.file ?? '').text()

/** The title, and the first sentence under it. */
function introOf(markdown: string): { title: string; intro: string } {
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

const sectionsOfPage = async ({ slug }: { slug: string }) => {
  const markdown = await readPage(slug)
  return sectionsOf(slug, titleOf(markdown), toHtml(markdown, slug, upFrom(slug)))
}

/** The relative path from a page to the root of the service. */
const upFrom = (slug: string): string => (slug === '' ? '' : '../'.repeat(slug.split('/').length))

function contentsPage(contents: Awaited<ReturnType<typeof readContents>>): string {
  const groups = contents.map(({ title, pages }) => {
    const items = pages.map(
      page => `<li><a href="docs/${page.slug}">${Bun.escapeHTML(page.title)}</a><p>${Bun.escapeHTML(page.intro)}</p></li>`,
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
