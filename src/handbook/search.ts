// The index of the handbook's search: a section per heading, and one per row that has an address.
import { plain } from './markdown.ts'

/** `page` is a slug, in German with `?language=de`; `id` is the anchor; `text` is for finding and for the line under a hit. */
export type Section = { page: string; title: string; heading: string; id: string; text: string }

export function sectionsOf(page: string, title: string, html: string): Section[] {
  const parts = html.split(/(?=<h[23] id=")/)
  return parts.flatMap(part => {
    const [, id = '', heading = ''] = /^<h[23] id="([^"]+)">([\s\S]*?) <a class="anchor"/.exec(part) ?? []
    const rows = [...part.matchAll(/<tr id="([^"]+)">([\s\S]*?)<\/tr>/g)]
    // Samples and examples of the reference say what its fields say.
    const own = part.replace(/<details[\s\S]*?<\/details>/g, '')
    const text = own.replace(/^<h[123][\s\S]*?<\/h[123]>/, '').replace(/<tr id="[\s\S]*?<\/tr>/g, '')
    return [
      { page, title, heading: readable(heading), id, text: readable(text) },
      ...rows.map(([, code = '', row = '']) => ({ page, title, heading: code, id: code, text: readable(row) })),
    ]
  })
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" }

const readable = (html: string): string => plain(html).replace(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)
