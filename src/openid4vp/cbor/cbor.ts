// The strict layer over cbor-x. One pass refuses malformed, ambiguous and outsized input, and records the range of each item.
import { isUtf8 } from 'node:buffer'
import {
  ARRAY,
  BYTE_KEY,
  BYTES,
  CborError,
  CborItem,
  type CborKey,
  type CborMap,
  decoder,
  FALSE,
  isBignum,
  LONG,
  MAP,
  NEGATIVE,
  type Origin,
  SIMPLE,
  TAG,
  TEXT,
} from './item.ts'

const DEPTH_MAX = 16
const ITEMS_MAX = 20_000
const TAGS_MAX = 4
const BIGNUM_BYTES_MAX = 64

type Limits = { itemsMax?: number; depthMax?: number; hasByteKeys?: boolean }

/** Parses exactly one item; throws CborError. Presentations keep the default limits. */
export const parseCbor = (
  bytes: Uint8Array,
  { itemsMax = ITEMS_MAX, depthMax = DEPTH_MAX, hasByteKeys = false }: Limits = {},
): CborItem => new Scan(bytes, itemsMax, depthMax, hasByteKeys).embedded(0, bytes.length)

const NO_CHILDREN: readonly CborItem[] = []
const NO_MEMBERS: CborMap = new Map([])
const DIGIT_NINE = 0x39

/** `depth` counts the arrays and maps around an item, `tags` the tags. */
class Scan implements Origin {
  readonly bytes: Uint8Array
  readonly text: Buffer
  private at = 0
  private end = 0
  private tagsSeen = 0

  constructor(
    { buffer, byteOffset, byteLength }: Uint8Array,
    /** Items that may still follow, embedded ones included. */
    private itemsLeft: number,
    private readonly depthMax: number,
    private readonly hasByteKeys: boolean,
  ) {
    this.bytes = new Uint8Array(buffer, byteOffset, byteLength)
    this.text = Buffer.from(buffer, byteOffset, byteLength)
  }

  embedded(start: number, end: number): CborItem {
    this.at = start
    this.end = end
    const item = this.item(0, 0)
    if (this.at !== end) throw new CborError('bytes follow the item')
    return item
  }

  private item(depth: number, tags: number): CborItem {
    const start = this.at
    const initial = this.initial()
    const major = initial >> 5
    const argument = this.argument(initial & 0x1f)
    const contentStart = this.at
    const tagsBefore = this.tagsSeen
    let children = NO_CHILDREN
    let members = NO_MEMBERS
    if (major === BYTES) this.advance(argument)
    else if (major === TEXT) this.skipText(argument)
    else if (major === ARRAY) children = this.array(argument, this.nested(depth), tags)
    else if (major === MAP) members = this.map(argument, this.nested(depth), tags)
    else if (major === TAG) children = [this.tagged(argument, depth, tags)]
    else if (major === SIMPLE) this.simple(initial & 0x1f, argument, start)
    const hasTag = this.tagsSeen > tagsBefore
    return new CborItem(this, major, argument, start, contentStart, this.at, children, members, hasTag)
  }

  private nested(depth: number): number {
    if (depth >= this.depthMax) throw new CborError('nested too deeply')
    return depth + 1
  }

  private initial(): number {
    if (--this.itemsLeft < 0) throw new CborError('too many items')
    return this.bytes[this.advance(1)]!
  }

  /** Not exact beyond 2^53. Lengths and tags that large are refused. */
  private argument(additional: number): number {
    if (additional < 24) return additional
    if (additional > LONG) {
      // 28 to 30 are reserved. ISO/IEC 18013-5 asks for definite lengths; refusing indefinite ones
      // everywhere leaves a single form of each item.
      throw new CborError(additional === 31 ? 'an indefinite length' : 'a reserved length')
    }
    const start = this.advance(1 << (additional - 24))
    let argument = 0
    for (let at = start; at < this.at; at++) argument = argument * 256 + this.bytes[at]!
    return argument
  }

  /** Moves forward by `count` bytes and returns the old position. */
  private advance(count: number): number {
    const start = this.at
    this.reserve(count)
    this.at += count
    return start
  }

  private reserve(count: number): void {
    if (count > this.end - this.at) throw new CborError('a length beyond the input')
  }

  private skipText(length: number): void {
    const start = this.advance(length)
    if (this.isAscii(start)) return
    const content = this.bytes.subarray(start, this.at)
    if (!isUtf8(content)) throw new CborError('a text that is not UTF-8')
    // cbor-x keeps or drops it depending on length and platform, so two keys could become one.
    if (content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf) throw new CborError('a text with a byte order mark')
  }

  /** Nearly all texts are short ASCII. They are checked without cutting them out. */
  private isAscii(start: number): boolean {
    for (let at = start; at < this.at; at++) if (this.bytes[at]! >= 0x80) return false
    return true
  }

  private array(count: number, depth: number, tags: number): readonly CborItem[] {
    this.reserveItems(count)
    const children: CborItem[] = []
    for (let index = 0; index < count; index++) children.push(this.item(depth, tags))
    return children
  }

  private map(count: number, depth: number, tags: number): CborMap {
    this.reserveItems(2 * count)
    const members = new Map<CborKey, CborItem>()
    for (let index = 0; index < count; index++) {
      const key = this.key(depth, tags)
      const other = namesake(key)
      if (members.has(key) || (other !== key && members.has(other))) throw new CborError('a map with a key twice')
      members.set(key, this.item(depth, tags))
    }
    return members
  }

  /** Checked before any item is read: each has at least one byte. */
  private reserveItems(count: number): void {
    this.reserve(count)
    if (count > this.itemsLeft) throw new CborError('too many items')
  }

  /** All keys in mdocs and COSE are texts or integers (RFC 9052 § 1.4); those in lists of identifiers are byte strings. */
  private key(depth: number, tags: number): CborKey {
    const major = this.bytes[this.at]! >> 5
    // Parsed first, so that a malformed item is reported as such.
    const isByteKey = major === BYTES && this.hasByteKeys
    if (major !== TEXT && major > NEGATIVE && !isByteKey) return this.item(depth, tags).asInt()
    // Every second item is a key, so no CborItem is made for it.
    const argument = this.argument(this.initial() & 0x1f)
    if (major === TEXT) return this.name(argument)
    if (major === BYTES) return this.byteKey(argument)
    if (!Number.isSafeInteger(argument)) throw new CborError('an integer is too large')
    return major === NEGATIVE ? -1 - argument : argument
  }

  private name(length: number): string {
    const start = this.at
    this.skipText(length)
    return this.text.toString('utf8', start, this.at)
  }

  private byteKey(length: number): string {
    const start = this.advance(length)
    return BYTE_KEY + this.text.toString('latin1', start, this.at)
  }

  private tagged(tag: number, depth: number, tags: number): CborItem {
    if (tags >= TAGS_MAX) throw new CborError('too many nested tags')
    if (!Number.isSafeInteger(tag)) throw new CborError('a tag number is too large')
    this.tagsSeen++
    const content = this.item(depth, tags + 1)
    if (isBignum(tag) && content.asBytes().length > BIGNUM_BYTES_MAX) throw new CborError('an integer is too large')
    return content
  }

  /** Accepts false, true, null, undefined and finite numbers. */
  private simple(additional: number, argument: number, start: number): void {
    if (additional >= 25) {
      if (!Number.isFinite(decoder.decode(this.bytes.subarray(start, this.at))))
        throw new CborError('a number that is not finite')
    } else if (additional === 24 || argument < FALSE) throw new CborError('an unassigned simple value')
  }
}

/** Keys are compared by name, as in JSON: 1 and "1" are the same key, in any encoding. */
function namesake(key: CborKey): CborKey {
  if (typeof key === 'number') return String(key)
  const canBeNumber = key.charCodeAt(0) <= DIGIT_NINE
  if (!canBeNumber) return key
  const number = Number(key)
  return String(number) === key ? number : key
}
