// A CBOR item as received: a range of bytes, cut out or decoded on request. Hashed or signed bytes
// are never encoded again (ISO/IEC 18013-5 § 9.1.2.5). cbor-x decodes values, and only parts
// without tags: its tag handlers are global, drop the number, and one of them builds a RegExp.
import { Decoder } from 'cbor-x/decode'

/** The input is malformed. Messages are fixed sentences and contain nothing of the input. */
export class CborError extends Error {
  override name = 'CborError'
}

export class CborTag {
  constructor(
    readonly tag: number,
    readonly value: unknown,
  ) {}
}

const UINT = 0
export const NEGATIVE = 1
export const BYTES = 2
export const TEXT = 3
export const ARRAY = 4
export const MAP = 5
export const TAG = 6
export const SIMPLE = 7

export const FALSE = 20
const TRUE = 21
const NULL = 22
const UNDEFINED = 23
/** The additional information of a head with an argument of 8 bytes. */
export const LONG = 27

export type CborKey = string | number
/** The beginning of a key that is a byte string, where they are allowed. No text contains a lone surrogate. */
export const BYTE_KEY = '\ud800'
export type CborMap = ReadonlyMap<CborKey, CborItem>

/** Shared by all items of one input. */
export type Origin = {
  /** The received bytes, twice: a Uint8Array for byte ranges, a Buffer for text. */
  readonly bytes: Uint8Array
  readonly text: Buffer
  /** Parses exactly one item between these places. */
  embedded(start: number, end: number): CborItem
}

export class CborItem {
  constructor(
    private readonly origin: Origin,
    private readonly major: number,
    private readonly argument: number,
    private readonly start: number,
    private readonly contentStart: number,
    private readonly end: number,
    private readonly children: readonly CborItem[],
    private readonly members: CborMap,
    readonly hasTag: boolean,
  ) {}

  /** The received bytes with their head, which are hashed and signed. */
  get bytes(): Uint8Array {
    return this.origin.bytes.subarray(this.start, this.end)
  }

  get isNull(): boolean {
    return this.major === SIMPLE && this.argument === NULL
  }

  get isText(): boolean {
    return this.major === TEXT
  }

  get isBytes(): boolean {
    return this.major === BYTES
  }

  get isArray(): boolean {
    return this.major === ARRAY
  }

  get isMap(): boolean {
    return this.major === MAP
  }

  /** The tag number; undefined for other items. */
  get tag(): number | undefined {
    return this.major === TAG ? this.argument : undefined
  }

  /** This item, and the items and names in it. */
  get count(): number {
    let count = 1
    for (const child of this.children) count += child.count
    if (this.major === MAP) for (const member of this.members.values()) count += 1 + member.count
    return count
  }

  asMap(): CborMap {
    this.expect(MAP, 'a map')
    return this.members
  }

  asArray(): readonly CborItem[] {
    this.expect(ARRAY, 'an array')
    return this.children
  }

  asText(): string {
    this.expect(TEXT, 'a text')
    return this.origin.text.toString('utf8', this.contentStart, this.end)
  }

  /** Content after the head; a view of the received bytes. */
  asBytes(): Uint8Array {
    this.expect(BYTES, 'a byte string')
    return this.origin.bytes.subarray(this.contentStart, this.end)
  }

  asUint(): number {
    this.expect(UINT, 'an unsigned integer')
    if (!Number.isSafeInteger(this.argument)) throw new CborError('an integer is too large')
    return this.argument
  }

  asInt(): number {
    if (this.major === UINT) return this.asUint()
    this.expect(NEGATIVE, 'an integer')
    if (!Number.isSafeInteger(this.argument)) throw new CborError('an integer is too large')
    return -1 - this.argument
  }

  asTagged(tag: number): CborItem {
    if (this.tag !== tag) throw new CborError('a tag was expected')
    return this.children[0]!
  }

  /** Parses the content of a byte string as CBOR. It counts towards the same limit of items. */
  embedded(): CborItem {
    this.expect(BYTES, 'a byte string')
    return this.origin.embedded(this.contentStart, this.end)
  }

  /**
   * Maps as Map, tags as CborTag, bignums as bigint. An integer in 8 bytes is a number up to 2^53,
   * and a bigint beyond it or inside an array or map.
   */
  decode(): unknown {
    if (!this.hasTag) return this.decodeUntagged()
    if (this.major === ARRAY) return this.children.map(child => child.decode())
    if (this.major === MAP) return new Map(this.members.entries().map(([key, member]) => [key, member.decode()]))
    const content = this.children[0]!
    if (!isBignum(this.argument)) return new CborTag(this.argument, content.decode())
    const magnitude = BigInt(`0x0${Buffer.from(content.asBytes()).toString('hex')}`)
    return this.argument === 2 ? magnitude : -1n - magnitude
  }

  /** Most values need no decoder: the scan has already read their head. */
  private decodeUntagged(): unknown {
    const additional = this.origin.bytes[this.start]! & 0x1f
    if (this.major === TEXT) return this.asText()
    if (this.major === BYTES) return this.asBytes()
    if (this.major <= NEGATIVE && Number.isSafeInteger(-1 - this.argument)) return this.asInt()
    if (this.major === SIMPLE && additional <= UNDEFINED) return SIMPLE_VALUES.get(additional)
    return decoder.decode(this.bytes)
  }

  private expect(major: number, name: string): void {
    if (this.major !== major) throw new CborError(`${name} was expected`)
  }
}

export const decoder = new Decoder({ mapsAsObjects: false, useRecords: false })

const SIMPLE_VALUES = new Map<number, unknown>([
  [FALSE, false],
  [TRUE, true],
  [NULL, null],
  [UNDEFINED, undefined],
])

/** RFC 8949 § 3.4.3. */
export const isBignum = (tag: number): boolean => tag === 2 || tag === 3
