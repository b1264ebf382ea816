import { Database } from 'bun:sqlite'

const METHODS = ['run', 'all', 'get', 'values'] as const
const WRITES = /^\s*(insert|update|delete|begin|commit)\b\s*(?:into |from )?"?(\w*)/i

/** Calls back before and after every statement that writes, on connections that are opened from now on. */
export function watchWrites(tell: (point: string) => void): () => void {
  const { prepare } = Database.prototype
  Database.prototype.prepare = function (this: Database, text: string, ...rest: never[]) {
    const statement = prepare.call(this, text, ...rest)
    const [, verb, table] = WRITES.exec(text) ?? []
    if (verb === undefined) return statement
    const name = `${verb} ${table}`.trim().toLowerCase()
    for (const method of METHODS) {
      const run = statement[method] as (...values: unknown[]) => unknown
      Object.assign(statement, {
        [method](...values: unknown[]) {
          tell(`before ${name}`)
          const result = run.apply(statement, values)
          tell(`after ${name}`)
          return result
        },
      })
    }
    return statement
  } as typeof prepare
  return () => {
    Database.prototype.prepare = prepare
  }
}
