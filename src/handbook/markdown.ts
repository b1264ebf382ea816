// A page of the handbook as HTML. Links between files become links between pages, and the rows of tables that begin with a code get
// an address of their own.

/** Raw HTML is shown as text; test/handbook/pages.test.ts refuses it in a page. */
const OPTIONS = { noHtmlBlocks: true, noHtmlSpans: true, headings: { ids: true } }

/** The folder of the pages in the repository, for links like `[text](../README.md)`. */
const ROOM = '/src/handbook/pages/'

/**
 * `up` leads from the page to the root of the service, which may be published under a path. Headings of a translation have the
 * anchors of its original, so that a link leads to the same place in both.
 */
export function toHtml(markdown: string, slug: string, up: string, original?: string): string {
  const html = Bun.markdown.html(markdown, OPTIONS)
  const placed = original === undefined ? html : withIdsOf(Bun.markdown.html(original, OPTIONS), html)
  return withAnchors(withLinks(placed, slug, up), original === undefined ? 'Link to' : 'Link zu')
    .replaceAll('<table>', '<div class="scroll" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
}

/** A file of the repository that is no page has no address here: its path is shown. */
function withLinks(html: string, slug: string, up: string): string {
  return html.replace(/<a href="([^"]*)"( title="[^"]*")?>([\s\S]*?)<\/a>/g, (link, href: string, _, text: string) => {
    if (/^(?:https?:|#)/.test(href)) return link
    if (href.startsWith('/')) return `<a href="${up}${href.slice(1)}">${text}</a>`
    const { pathname, hash } = new URL(href, `https://handbook${ROOM}${slug}.md`)
    if (!pathname.startsWith(ROOM)) return `<code>${pathname.slice(1)}</code>`
    return `<a href="${up}docs/${pathname.slice(ROOM.length).replace(/\.md$/, '')}${hash}">${text}</a>`
  })
}

const HEADING = /(?<=<h[1-6] id=")[^"]+/g

function withIdsOf(original: string, html: string): string {
  const ids = original.match(HEADING) ?? []
  return html.replace(HEADING, id => ids.shift() ?? id)
}

/** Headings have ids already. Of two rows with one code the first has the address. */
function withAnchors(html: string, linkTo: string): string {
  const known = new Set<string>()
  return html
    .replace(/<(h[23]) id="([^"]+)">([\s\S]*?)<\/\1>/g, (_, level: string, id: string, text: string) => {
      known.add(id)
      return `<${level} id="${id}">${text} <a class="anchor" href="#${id}" aria-label="${linkTo} “${plain(text)}”">#</a></${level}>`
    })
    .replace(/<tr><td><code>([a-z][\w.]*)<\/code>/g, (row, code: string) => {
      if (known.has(code)) return row
      known.add(code)
      return row.replace('<tr>', `<tr id="${code}">`)
    })
}

/** The text of some HTML, for attributes and for the search: still escaped. */
export const plain = (html: string): string =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('"', '&quot;')
    .replace(/\s+/g, ' ')
    .trim()
