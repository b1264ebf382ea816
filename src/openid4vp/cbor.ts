// The strict layer over cbor-x. One pass over the bytes refuses whatever is not well-formed, ambiguous or outsized, and remembers where each
// item lies: what is hashed or signed is cut out of the received bytes and never encoded again (ISO/IEC 18013-5 § 9.1.2.5). cbor-x then
// decodes values, and only parts without tags: its handlers for tags are global, drop the number, and one of them builds a RegExp.
import { isUtf8 } from 'node:buffer'
import { Decoder } from 'cbor-x/decode'

export const DEPTH_MAX = 16
export const ITEMS_MAX = 20_000
export const TAGS_MAX = 4
export const BIGNUM_BYTES_MAX = 64

/** The input is not what it has to be. Messages are fixed sentences: nothing of the input is in them. */
export class CborError extends Error {}

export class CborTag {
  constructor(
    readonly tag: number,
    readonly value: unknown,
  ) {}
}

/** Parses exactly one item; throws CborError. */
export const parseCbor = (bytes: Uint8Array): CborItem => new Scan(bytes, { items: ITEMS_MAX }).whole()

const UINT = 0
const NEGATIVE = 1
const BYTES = 2
const TEXT = 3
const ARRAY = 4
const MAP = 5
const TAG = 6
const SIMPLE = 7

export type CborKey = string | number

/** How many items may still come, embedded ones included. */
type Budget = { items: number }

/** Arrays and tags have children, maps have keys as well. */
type Inside = { children: readonly CborItem[]; keys: readonly CborKey[]; hasTag: boolean }

const NOTHING: Inside = { children: [], keys: [], hasTag: false }

/** How many arrays and maps, and how many tags, are around an item. */
type Level = { depth: number; tags: number }

type Place = { major: number; argument: number; start: number; contentStart: number; end: number }

export class CborItem {
  constructor(
    private readonly source: Uint8Array,
    private readonly budget: Budget,
    private readonly place: Place,
    private readonly inside: Inside,
  ) {}

  /** As received, with its head: what is hashed and signed. */
  get bytes(): Uint8Array {
    return this.source.subarray(this.place.start, this.place.end)
  }

  get hasTag(): boolean {
    return this.inside.hasTag
  }

  get isNull(): boolean {
    return this.place.major === SIMPLE && this.place.argument === 22
  }

  get isText(): boolean {
    return this.place.major === TEXT
  }

  get isBytes(): boolean {
    return this.place.major === BYTES
  }

  get isArray(): boolean {
    return this.place.major === ARRAY
  }

  get isMap(): boolean {
    return this.place.major === MAP
  }

  /** The number of a tag, undefined for anything else. */
  get tag(): number | undefined {
    return this.place.major === TAG ? this.place.argument : undefined
  }

  asMap(): Map<CborKey, CborItem> {
    this.expect(MAP, 'a map')
    return new Map(this.inside.keys.map((key, index) => [key, this.inside.children[index]!]))
  }

  asArray(): readonly CborItem[] {
    this.expect(ARRAY, 'an array')
    return this.inside.children
  }

  asText(): string {
    this.expect(TEXT, 'a text')
    return utf8.decode(this.content)
  }

  /** Without its head; a view of the received bytes. */
  asBytes(): Uint8Array {
    this.expect(BYTES, 'a byte string')
    return this.content
  }

  asUint(): number {
    this.expect(UINT, 'an unsigned integer')
    if (!Number.isSafeInteger(this.place.argument)) throw new CborError('an integer is too large')
    return this.place.argument
  }

  asInt(): number {
    if (this.place.major === UINT) return this.asUint()
    this.expect(NEGATIVE, 'an integer')
    if (!Number.isSafeInteger(this.place.argument)) throw new CborError('an integer is too large')
    return -1 - this.place.argument
  }

  asTagged(tag: number): CborItem {
    if (this.tag !== tag) throw new CborError('a tag was expected')
    return this.inside.children[0]!
  }

  /** What a byte string holds as CBOR of its own; it counts towards the same limit of items. */
  embedded(): CborItem {
    return new Scan(this.asBytes(), this.budget).whole()
  }

  /** Maps as Map, tags as CborTag, bignums and 64-bit integers as bigint. */
  decode(): unknown {
    if (!this.hasTag) return decoder.decode(this.bytes)
    if (this.place.major === ARRAY) return this.inside.children.map(child => child.decode())
    if (this.place.major === MAP)
      return new Map(this.inside.keys.map((key, index) => [key, this.inside.children[index]!.decode()]))
    const content = this.inside.children[0]!
    if (!isBignum(this.place.argument)) return new CborTag(this.place.argument, content.decode())
    const magnitude = BigInt(`0x0${Buffer.from(content.asBytes()).toString('hex')}`)
    return this.place.argument === 2 ? magnitude : -1n - magnitude
  }

  private get content(): Uint8Array {
    return this.source.subarray(this.place.contentStart, this.place.end)
  }

  private expect(major: number, name: string): void {
    if (this.place.major !== major) throw new CborError(`${name} was expected`)
  }
}

const decoder = new Decoder({ mapsAsObjects: false, useRecords: false })
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** RFC 8949 § 3.4.3. */
const isBignum = (tag: number): boolean => tag === 2 || tag === 3

class Scan {
  private at = 0
  private readonly bytes: Uint8Array
  private readonly view: DataView

  constructor(
    { buffer, byteOffset, byteLength }: Uint8Array,
    private readonly budget: Budget,
  ) {
    // Not the Buffer it may be: parts of one are several times slower to cut out.
    this.bytes = new Uint8Array(buffer, byteOffset, byteLength)
    this.view = new DataView(buffer, byteOffset, byteLength)
  }

  whole(): CborItem {
    const item = this.item({ depth: 0, tags: 0 })
    if (this.at !== this.bytes.length) throw new CborError('bytes follow the item')
    return item
  }

  private item({ depth, tags }: Level): CborItem {
    if (--this.budget.items < 0) throw new CborError('too many items')
    const start = this.at
    const initial = this.view.getUint8(this.advance(1))
    const major = initial >> 5
    const argument = this.argument(initial & 0x1f)
    const contentStart = this.at
    const inside = this.inside(major, argument, { depth, tags })
    if (major === SIMPLE) this.simple(initial & 0x1f, argument, start)
    return new CborItem(this.bytes, this.budget, { major, argument, start, contentStart, end: this.at }, inside)
  }

  /** Beyond 2^53 not exact, which no length and no tag may be. */
  private argument(additional: number): number {
    if (additional < 24) return additional
    if (additional === 24) return this.view.getUint8(this.advance(1))
    if (additional === 25) return this.view.getUint16(this.advance(2))
    if (additional === 26) return this.view.getUint32(this.advance(4))
    if (additional === 27) return Number(this.view.getBigUint64(this.advance(8)))
    // 28 to 30 are reserved. ISO/IEC 18013-5 asks for definite lengths; refusing the others everywhere leaves one form of each item.
    throw new CborError(additional === 31 ? 'an indefinite length' : 'a reserved length')
  }

  private inside(major: number, argument: number, { depth, tags }: Level): Inside {
    if (major === BYTES) this.advance(argument)
    if (major === TEXT) this.text(argument)
    if (major === ARRAY) return this.array(argument, { depth: nested(depth), tags })
    if (major === MAP) return this.map(argument, { depth: nested(depth), tags })
    if (major === TAG) return { children: [this.tagged(argument, { depth, tags })], keys: [], hasTag: true }
    return NOTHING
  }

  /** Past so many bytes; gives where they begin. */
  private advance(count: number): number {
    const start = this.at
    this.reserve(count)
    this.at += count
    return start
  }

  private reserve(count: number): void {
    if (count > this.bytes.length - this.at) throw new CborError('a length beyond the input')
  }

  private text(length: number): void {
    const content = this.bytes.subarray(this.advance(length), this.at)
    if (!isUtf8(content)) throw new CborError('a text that is not UTF-8')
    // Whether cbor-x keeps it depends on the length of the text and on the platform: two keys could become one.
    if (content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf) throw new CborError('a text with a byte order mark')
  }

  private array(count: number, level: Level): Inside {
    this.reserveItems(count)
    const children: CborItem[] = []
    for (let index = 0; index < count; index++) children.push(this.item(level))
    return { children, keys: [], hasTag: children.some(child => child.hasTag) }
  }

  private map(count: number, level: Level): Inside {
    this.reserveItems(2 * count)
    const children: CborItem[] = []
    const keys: CborKey[] = []
    // By name, as in JSON: 1 and "1" are the same key, and so is 1 however it is encoded.
    const names = new Set<string>()
    for (let index = 0; index < count; index++) {
      const key = this.key(level)
      if (names.size === names.add(String(key)).size) throw new CborError('a map with a key twice')
      keys.push(key)
      children.push(this.item(level))
    }
    return { children, keys, hasTag: children.some(child => child.hasTag) }
  }

  /** Before any of them is read: each has at least one byte. */
  private reserveItems(count: number): void {
    this.reserve(count)
    if (count > this.budget.items) throw new CborError('too many items')
  }

  /** Everything we read, and all of COSE, has texts and integers as keys (RFC 9052 § 1.4). */
  private key(level: Level): CborKey {
    const key = this.item(level)
    return key.isText ? key.asText() : key.asInt()
  }

  private tagged(tag: number, { depth, tags }: Level): CborItem {
    if (tags >= TAGS_MAX) throw new CborError('too many nested tags')
    if (!Number.isSafeInteger(tag)) throw new CborError('a tag number is too large')
    const content = this.item({ depth, tags: tags + 1 })
    if (isBignum(tag) && content.asBytes().length > BIGNUM_BYTES_MAX) throw new CborError('an integer is too large')
    return content
  }

  /** false, true, null, undefined and numbers that JSON has; nothing else has a meaning here. */
  private simple(additional: number, argument: number, start: number): void {
    if (additional >= 25) {
      if (!Number.isFinite(decoder.decode(this.bytes.subarray(start, this.at))))
        throw new CborError('a number that is not finite')
    } else if (additional === 24 || argument < 20) throw new CborError('an unassigned simple value')
  }
}

function nested(depth: number): number {
  if (depth >= DEPTH_MAX) throw new CborError('nested too deeply')
  return depth + 1
}
