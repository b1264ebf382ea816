// JSON objects whose names come from strangers.

export type Members = Record<string, unknown>

export const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Plain assignment would make the value of `__proto__` the prototype. */
export function setMember(target: Members, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true })
}
