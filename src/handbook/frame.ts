// The frame around a page of the handbook: header with the search, navigation, sections of the page, next page. It works without a
// script; src/web/handbook/main.ts adds the search and the copy buttons.
import { LANGUAGE_NAMES, type StaffLanguage } from '../words/languages.ts'
import { plain } from './markdown.ts'

/** `language` is that of the title. */
export type Titled = { slug: string; title: string; intro: string; language: StaffLanguage }
type Contents = { title: string; pages: Titled[] }[]
/** `language` is that of the article, `other` one that it can be read in too. */
type Framed = { slug: string; article: string; contents: Contents; language: StaffLanguage; other?: StaffLanguage | undefined }

const WORDS = {
  en: {
    skip: 'Skip to the text',
    handbook: 'Handbook',
    search: 'Search',
    searchAll: 'Search the handbook',
    contents: 'Contents',
    dashboard: 'Dashboard',
    next: 'Next',
    onThisPage: 'On this page',
  },
  de: {
    skip: 'Zum Text springen',
    handbook: 'Handbuch',
    search: 'Suchen',
    searchAll: 'Das Handbuch durchsuchen',
    contents: 'Inhalt',
    dashboard: 'Dashboard',
    next: 'Weiter',
    onThisPage: 'Auf dieser Seite',
  },
} as const satisfies Record<StaffLanguage, Record<string, string>>

export function frame({ slug, article, contents, language, other }: Framed): string {
  const words = WORDS[language]
  const up = slug === '' ? '' : '../'.repeat(slug.split('/').length)
  return `<a class="skip" href="#content">${words.skip}</a>
<header class="top">
  <a class="brand" href="${up}docs">Vidimus <span>${words.handbook}</span></a>
  <form class="search" role="search" hidden>
    <label class="only-heard" for="search">${words.searchAll}</label>
    <input class="input" id="search" type="search" autocomplete="off" placeholder="${words.search}" aria-keyshortcuts="/" />
    <p class="only-heard" role="status"></p>
    <ul class="hits" hidden></ul>
  </form>
  <a class="to-contents" href="#contents">${words.contents}</a>
  <a class="to-dashboard" href="${up}dashboard">${words.dashboard}</a>
</header>
<div class="frame">
  ${navigation(slug, up, contents)}
  <main id="content" tabindex="-1">${other ? languageSwitch(other) : ''}<article>${article}</article>${neighbours(slug, up, contents, words.next)}</main>
  ${sections(article, words.onThisPage)}
</div>`
}

const languageSwitch = (other: StaffLanguage): string =>
  `<a class="language touch" href="?language=${other}" lang="${other}" hreflang="${other}">${LANGUAGE_NAMES[other]}</a>`

/** In English, but for pages that have a German title. */
function navigation(slug: string, up: string, contents: Contents): string {
  const groups = contents.map(({ title, pages }) => {
    const items = pages.map(page => `<li>${link(page, slug, up)}</li>`)
    return `<h2>${Bun.escapeHTML(title)}</h2><ul>${items.join('')}</ul>`
  })
  return `<nav id="contents" lang="en" aria-label="Handbook" tabindex="-1">
${groups.join('\n')}
<h2>Reference</h2><ul><li>${link({ slug: 'api', title: 'API reference', language: 'en' }, slug, up)}</li></ul></nav>`
}

const link = ({ slug, title, language }: Omit<Titled, 'intro'>, from: string, up: string): string =>
  `<a href="${up}docs/${slug}" lang="${language}"${slug === from ? ' aria-current="page"' : ''}>${Bun.escapeHTML(title)}</a>`

function neighbours(slug: string, up: string, contents: Contents, label: string): string {
  const pages = contents.flatMap(group => group.pages)
  const at = pages.findIndex(page => page.slug === slug)
  const next = pages[at + 1]
  if (at < 0 || !next) return ''
  return `<p class="next">${label}: ${link(next, slug, up)}</p>`
}

/** Only a page with several sections needs a list of them. */
function sections(article: string, label: string): string {
  // Beneath a heading of the reference its endpoints; objects are many, and found by their links.
  const found = [
    ...article.matchAll(
      /(?:<h2|<section class="operation"><h3)( id="(?!schema-)([^"]+)">)([\s\S]*?)(?: <a class="anchor"[\s\S]*?)?<\/h[23]>/g,
    ),
  ]
  if (found.length < 2) return ''
  const items = found.map(
    ([whole, , id, text = '']) =>
      `<li${whole.startsWith('<h2') ? '' : ' class="endpoint"'}><a href="#${id}">${plain(text)}</a></li>`,
  )
  return `<aside aria-label="${label}"><h2>${label}</h2><ul>${items.join('')}</ul></aside>`
}
