/** A map that drops the least recently used entries once there are too many or they weigh too much. */
export class Lru<V> {
  private readonly entries = new Map<string, V>()
  private weight = 0

  constructor(private readonly limits: { countMax: number; weightMax?: number; weigh?: (value: V) => number }) {}

  get size(): number {
    return this.entries.size
  }

  /** Least recently used first. */
  keys(): string[] {
    return [...this.entries.keys()]
  }

  values(): V[] {
    return [...this.entries.values()]
  }

  get(key: string): V | undefined {
    const value = this.entries.get(key)
    if (value === undefined) return undefined
    this.entries.delete(key)
    this.entries.set(key, value)
    return value
  }

  set(key: string, value: V): void {
    this.delete(key)
    this.entries.set(key, value)
    this.weight += this.weigh(value)
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.limits.countMax && this.weight <= (this.limits.weightMax ?? Number.POSITIVE_INFINITY)) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const value = this.entries.get(key)
    if (value === undefined) return
    this.weight -= this.weigh(value)
    this.entries.delete(key)
  }

  private weigh(value: V): number {
    return this.limits.weigh?.(value) ?? 0
  }
}
