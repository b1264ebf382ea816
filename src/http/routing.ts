type Route = { method: string; path: string }

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

const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:[^/]+/g, '[^/]+')
      .replace(/\\\*$/, '.+')}$`,
  )
