import type { Answer } from '../helpers/app.ts'
import { type Code, Refusal } from './model.ts'

/** The service and the model do not agree. */
export class Disagreement extends Error {
  override name = 'Disagreement'
}

type Expected<Value> = { ok: Value } | { refusal: Refusal }

/** How often each answer was the right one, in all runs of this process: what is never met is not tested. */
export const met = new Map<Code | 'ok', number>()

const meet = (answer: Code | 'ok') => met.set(answer, (met.get(answer) ?? 0) + 1)

/** The model's result of an act: a value or a refusal. */
export function foretell<Value>(act: () => Value): Expected<Value> {
  try {
    const ok = act()
    meet('ok')
    return { ok }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    meet(error.code)
    return { refusal: error }
  }
}

/** The answer is the refusal that the model gave; true when it gave none. */
export function isGranted<Value>(answer: Answer, expected: Expected<Value>): expected is { ok: Value } {
  if ('ok' in expected) return true
  const { code, status, retryAfterSeconds } = expected.refusal
  // OAuth names its error without an object.
  const { error } = (answer.body ?? {}) as { error?: { code?: string } | string }
  same([answer.status, typeof error === 'string' ? error : error?.code], [status, code], 'refusal')
  if (retryAfterSeconds !== undefined) same(answer.headers.get('retry-after'), String(retryAfterSeconds), 'Retry-After')
  return false
}

export function expectOk(answer: Answer, status: number, body: unknown): void {
  same(answer.status, status, `status (${answer.text.slice(0, 200)})`)
  same(answer.body, body, 'body')
}

/** Deeply equal; a function among the expected says itself whether a value is right. */
export function same(actual: unknown, expected: unknown, place: string): void {
  if (typeof expected === 'function') {
    if (!expected(actual)) throw new Disagreement(`${place}: ${show(actual)} does not look right`)
    return
  }
  if (typeof expected !== 'object' || expected === null) {
    if (actual !== expected) throw new Disagreement(`${place}: the service says ${show(actual)}, the model ${show(expected)}`)
    return
  }
  if (typeof actual !== 'object' || actual === null)
    throw new Disagreement(`${place}: the service says ${show(actual)}, the model ${show(expected)}`)
  const names = new Set([...Object.keys(actual), ...Object.keys(expected)])
  for (const name of names)
    same((actual as Record<string, unknown>)[name], (expected as Record<string, unknown>)[name], `${place}.${name}`)
}

const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 300) ?? 'nothing'
