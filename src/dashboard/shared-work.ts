import { Lru } from '../base/lru.ts'
import type { Deps } from './deps.ts'

/** An examination runs no more often than this. */
const AGAIN_MS = 10_000
const KEYS_MAX = 100

/** Work that all callers share; a call too soon gets the last answer again. */
export function sharedWork<T>({ now }: Pick<Deps, 'now'>, work: (key: string) => Promise<T>): (key?: string) => Promise<T> {
  const last = new Lru<{ at: number; answer: Promise<T> }>({ countMax: KEYS_MAX })
  return (key = '') => {
    const at = now()
    const known = last.get(key)
    if (known && at - known.at < AGAIN_MS) return known.answer
    const answer = work(key)
    last.set(key, { at, answer })
    return answer
  }
}
