import type { TObject } from '@sinclair/typebox'

export type Route = { method: string; path: string; hooks?: { query?: TObject } }

/**
 * The methods of a path, for 405: the runtime's router only knows match or no match. A path that is
 * a route itself has only its own methods, not those of a parameter route beside it.
 */
export function allowedMethodsOf(routes: () => Route[]): (path: string) => string[] {
  let table: (Route & { pattern: RegExp })[] | undefined
  return path => {
    table ??= routes().map(({ method, path: template }) => ({ method, path: template, pattern: patternOf(template) }))
    const fitting = table.filter(({ pattern }) => pattern.test(path))
    const exact = fitting.filter(route => route.path === path)
    const methods = new Set((exact.length > 0 ? exact : fitting).map(({ method }) => method))
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods].sort()
  }
}

/** True for a route that names its query parameters and refuses all others. Wallets' routes ignore those of strangers. */
export function knownQueriesOf(routes: () => Route[]): (method: string, template: string) => boolean {
  let known: Set<string> | undefined
  return (method, template) => {
    known ??= new Set(routes().flatMap(({ method, path, hooks }) => (isExact(hooks?.query) ? [`${method} ${path}`] : [])))
    return known.has(`${method === 'HEAD' ? 'GET' : method} ${template}`)
  }
}

const isExact = (query: TObject | undefined): boolean => query?.additionalProperties === false

const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:[^/]+/g, '[^/]+')
      .replace(/\\\*$/, '.+')}$`,
  )

/** Not the framework's `path`, which is wrong for host names of one or two letters, as on a LAN. */
export const pathOf = (url: string): string => url.replace(/^[a-z]+:\/\/[^/]*/, '').split('?', 1)[0] ?? ''

/** A segment that another reader of the path would understand differently: dots, both slashes, a fragment, U+0000. */
export const isInexact = (segment: string): boolean => segment === '.' || segment === '..' || /[/\\#\0]/.test(segment)
