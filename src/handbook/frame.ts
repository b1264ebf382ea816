// The frame around a page of the handbook: header with the search, navigation, sections of the page, next page. It works without a
// script; src/web/handbook/main.ts adds the search and the copy buttons.
import { plain } from './markdown.ts'

export type Titled = { slug: string; title: string; intro: string }
type Contents = { title: string; pages: Titled[] }[]
type Framed = { slug: string; article: string; contents: Contents }

export function frame({ slug, article, contents }: Framed): string {
  const up = slug === '' ? '' : '../'.repeat(slug.split('/').length)
  return `<a class="skip" href="#content">Skip to the text</a>
<header class="top">
  <a class="brand" href="${up}docs">Vidimus <span>Handbook</span></a>
  <form class="search" role="search" hidden>
    <label class="only-heard" for="search">Search the handbook</label>
    <input class="input" id="search" type="search" autocomplete="off" placeholder="Search" aria-keyshortcuts="/" />
    <p class="only-heard" role="status"></p>
    <ul class="hits" hidden></ul>
  </form>
  <a class="to-contents" href="#contents">Contents</a>
  <a class="to-dashboard" href="${up}dashboard">Dashboard</a>
</header>
<div class="frame">
  ${navigation(slug, up, contents)}
  <main id="content" tabindex="-1"><article>${article}</article>${neighbours(slug, up, contents)}</main>
  ${sections(article)}
</div>`
}

function navigation(slug: string, up: string, contents: Contents): string {
  const groups = contents.map(({ title, pages }) => {
    const items = pages.map(page => `<li>${link(page.slug, page.title, slug, up)}</li>`)
    return `<h2>${Bun.escapeHTML(title)}</h2><ul>${items.join('')}</ul>`
  })
  return `<nav id="contents" aria-label="Handbook" tabindex="-1">
${groups.join('\n')}
<h2>Reference</h2><ul><li>${link('api', 'API reference', slug, up)}</li></ul></nav>`
}

const link = (to: string, title: string, from: string, up: string): string =>
  `<a href="${up}docs/${to}"${to === from ? ' aria-current="page"' : ''}>${Bun.escapeHTML(title)}</a>`

function neighbours(slug: string, up: string, contents: Contents): string {
  const pages = contents.flatMap(group => group.pages)
  const at = pages.findIndex(page => page.slug === slug)
  const next = pages[at + 1]
  if (at < 0 || !next) return ''
  return `<p class="next">Next: <a href="${up}docs/${next.slug}">${Bun.escapeHTML(next.title)}</a></p>`
}

/** Only a page with several sections needs a list of them. */
function sections(article: string): string {
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
  return `<aside aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></aside>`
}
