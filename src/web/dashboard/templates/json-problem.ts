/** The first problem; `found` is the character there, if any. */
type JsonProblem = { kind: JsonProblemKind; line: number; column: number; found?: string }

/**
 * `value`, `name`, `colon`, `comma`: what is expected. `last_comma`: one before a closing bracket.
 * `text`: it has no end, or a wrong escape. `more`: something follows the end.
 */
export type JsonProblemKind = 'value' | 'name' | 'colon' | 'comma' | 'last_comma' | 'text' | 'more'

/** The first problem of a text that JSON.parse refuses. Browsers word theirs differently and in English only. */
export function findJsonProblem(text: string): JsonProblem | undefined {
  const failed = scan(text)
  if (!failed) return undefined
  const before = text.slice(0, failed.at).split('\n')
  const found = text[failed.at]
  return { kind: failed.kind, line: before.length, column: (before.at(-1) ?? '').length + 1, ...(found && { found }) }
}

type Failed = { at: number; kind: JsonProblemKind }

const SPACE = /[ \t\n\r]*/y
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// JSON forbids control characters inside a text.
const TEXT = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y

/** One step for each token; `open` holds the brackets that are not closed yet. */
function scan(text: string): Failed | undefined {
  const open: ('{' | '[')[] = []
  let at = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const [found] = pattern.exec(text) ?? []
    at += found?.length ?? 0
    return found !== undefined
  }
  const fail = (kind: JsonProblemKind): Failed => ({ at, kind })
  const name = (): Failed | undefined => {
    if (!take(TEXT)) return fail(text[at] === '"' ? 'text' : 'name')
    take(SPACE)
    if (text[at] !== ':') return fail('colon')
    at++
    return undefined
  }
  for (;;) {
    take(SPACE)
    const begins = text[at]
    if (begins === '{' || begins === '[') {
      at++
      take(SPACE)
      if (text[at] !== (begins === '{' ? '}' : ']')) {
        open.push(begins)
        const failed = begins === '{' ? name() : undefined
        if (failed) return failed
        continue
      }
      at++
    } else if (begins === '"') {
      if (!take(TEXT)) return fail('text')
    } else if (!take(LITERAL)) return fail('value')
    // After a value: close brackets until one goes on.
    for (;;) {
      take(SPACE)
      const inside = open.at(-1)
      if (!inside) return at < text.length ? fail('more') : undefined
      if (text[at] === (inside === '{' ? '}' : ']')) {
        open.pop()
        at++
        continue
      }
      if (text[at] !== ',') return fail('comma')
      const comma = at
      at++
      take(SPACE)
      if (text[at] === '}' || text[at] === ']') return { at: comma, kind: 'last_comma' }
      const failed = inside === '{' ? name() : undefined
      if (failed) return failed
      break
    }
  }
}
