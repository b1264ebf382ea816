type Route = { method: string; path: string }

/** Which methods a path answers: the runtime's router only knows match or no match, and a wrong method deserves its 405. */
export function allowedMethodsOf(routes: () => Route[]): (path: string) => string[] {
  let table: { method: string; pattern: RegExp }[] | undefined
  return path => {
    table ??= routes().map(({ method, path: template }) => ({ method, pattern: patternOf(template) }))
    const methods = new Set(table.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))
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
