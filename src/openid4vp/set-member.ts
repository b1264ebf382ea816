/** Names come from strangers: plain assignment would make the value of `__proto__` the prototype. */
export function setMember(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true })
}
