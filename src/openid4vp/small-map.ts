// A map that is filled once and read a few times. Most have a handful of entries and are searched
// linearly: hashing them would cost several times as much time and memory. A large one is hashed.

const LISTED_MAX = 8

export class SmallMap<Key, Value> {
  private readonly listed: Key[] = []
  private readonly values: Value[] = []
  private places: Map<Key, number> | undefined

  get size(): number {
    return this.listed.length
  }

  has(key: Key): boolean {
    return this.placeOf(key) >= 0
  }

  get(key: Key): Value | undefined {
    const place = this.placeOf(key)
    return place < 0 ? undefined : this.values[place]
  }

  /** The key must not exist yet. */
  add(key: Key, value: Value): void {
    if (this.size === LISTED_MAX) this.places = new Map(this.listed.map((listed, place) => [listed, place]))
    this.places?.set(key, this.size)
    this.listed.push(key)
    this.values.push(value)
  }

  keys(): readonly Key[] {
    return this.listed
  }

  /** Entries in the order in which they were added. */
  entries(): [Key, Value][] {
    return this.listed.map((key, place) => [key, this.values[place]!])
  }

  [Symbol.iterator](): Iterator<[Key, Value]> {
    return this.entries().values()
  }

  private placeOf(key: Key): number {
    if (this.places) return this.places.get(key) ?? -1
    for (let place = 0; place < this.listed.length; place++) if (this.listed[place] === key) return place
    return -1
  }
}
