// DER (X.690) as far as certificates need it: definite, shortest lengths, one-byte tags, nothing
// after the last element. A violation throws `DerError`.

export class DerError extends Error {
  override name = 'DerError'
}

export type DerElement = {
  tag: number
  content: Uint8Array
  /** The bytes of the input, with tag and length. */
  raw: Uint8Array
}

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const

/** A context-specific tag: `[number]`, primitive or constructed. */
export const context = (number: number, { constructed = false } = {}): number => 0x80 | (constructed ? 0x20 : 0) | number

const ELEMENTS_MAX = 1000
const OID_BYTES_MAX = 32

export class DerReader {
  private at = 0

  constructor(private readonly bytes: Uint8Array) {}

  get isDone(): boolean {
    return this.at === this.bytes.length
  }

  next(tag?: number): DerElement {
    const start = this.at
    const found = this.byte()
    if (tag !== undefined && found !== tag) throw new DerError('another element was expected')
    if ((found & 0x1f) === 0x1f) throw new DerError('a tag of more than one byte')
    const length = this.length()
    if (length > this.bytes.length - this.at) throw new DerError('an element is longer than what is there')
    const content = this.bytes.subarray(this.at, this.at + length)
    this.at += length
    return { tag: found, content, raw: this.bytes.subarray(start, this.at) }
  }

  optional(tag: number): DerElement | undefined {
    return this.bytes[this.at] === tag ? this.next(tag) : undefined
  }

  end(): void {
    if (!this.isDone) throw new DerError('something follows the last element')
  }

  private length(): number {
    const first = this.byte()
    if (first < 0x80) return first
    const count = first & 0x7f
    if (count === 0 || count > 3) throw new DerError('an indefinite or absurd length')
    let length = 0
    for (let index = 0; index < count; index++) length = length * 256 + this.byte()
    if (length < 0x80 || length < 256 ** (count - 1)) throw new DerError('a length that is not the shortest')
    return length
  }

  private byte(): number {
    const byte = this.bytes[this.at]
    if (byte === undefined) throw new DerError('the input ends early')
    this.at += 1
    return byte
  }
}

/** The only element of the input. */
export function readDer(bytes: Uint8Array, tag: number): DerElement {
  const reader = new DerReader(bytes)
  const element = reader.next(tag)
  reader.end()
  return element
}

export function readAll(bytes: Uint8Array, tag?: number): DerElement[] {
  const reader = new DerReader(bytes)
  const elements: DerElement[] = []
  while (!reader.isDone) {
    if (elements.length === ELEMENTS_MAX) throw new DerError('too many elements')
    elements.push(reader.next(tag))
  }
  return elements
}

export function readOid(content: Uint8Array): string {
  if (content.length === 0 || content.length > OID_BYTES_MAX)
    throw new DerError('an object identifier without or with too many bytes')
  const arcs: bigint[] = []
  let value = 0n
  let isFirstByte = true
  for (const byte of content) {
    if (isFirstByte && byte === 0x80) throw new DerError('an object identifier that is not the shortest')
    value = (value << 7n) | BigInt(byte & 0x7f)
    isFirstByte = (byte & 0x80) === 0
    if (!isFirstByte) continue
    arcs.push(value)
    value = 0n
  }
  if (!isFirstByte) throw new DerError('an object identifier ends early')
  const [first = 0n, ...rest] = arcs
  const root = first < 80n ? first / 40n : 2n
  return [root, first - root * 40n, ...rest].join('.')
}

export function readBoolean(content: Uint8Array): boolean {
  if (content.length !== 1 || (content[0] !== 0x00 && content[0] !== 0xff))
    throw new DerError('a boolean that is neither 00 nor FF')
  return content[0] === 0xff
}

/** Small, not negative: a version, a path length. */
export function readSmallInteger(content: Uint8Array): number {
  const [first = 0x80, second] = content
  if (content.length === 0 || content.length > 2 || first > 0x7f || (first === 0 && second !== undefined && second < 0x80)) {
    throw new DerError('a number that is negative, too large or not the shortest')
  }
  return second === undefined ? first : first * 256 + second
}

export function readBitString(content: Uint8Array): { bytes: Uint8Array; unusedBits: number } {
  const unusedBits = content[0]
  if (unusedBits === undefined || unusedBits > 7 || (content.length === 1 && unusedBits > 0))
    throw new DerError('a broken bit string')
  return { bytes: content.subarray(1), unusedBits }
}

/** RFC 5280 § 4.1.2.5: whole seconds, UTC. In milliseconds since 1970. */
export function readTime({ tag, content }: DerElement): number {
  const text = Buffer.from(content).toString('latin1')
  const digits = tag === TAG.utcTime ? /^\d{12}Z$/ : /^\d{14}Z$/
  if ((tag !== TAG.utcTime && tag !== TAG.generalizedTime) || !digits.test(text)) throw new DerError('a date in another form')
  const full = tag === TAG.utcTime ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text
  const iso = full.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6.000Z')
  const time = Date.parse(iso)
  if (Number.isNaN(time) || new Date(time).toISOString() !== iso) throw new DerError('a date that does not exist')
  return time
}

export function readText({ tag, content }: DerElement): string | undefined {
  switch (tag) {
    case TAG.utf8String:
      return decode('utf-8', content)
    case TAG.printableString:
    case TAG.ia5String:
      return decode('ascii', content)
    case TAG.teletexString:
      return decode('latin1', content)
    case TAG.bmpString:
      return decode('utf-16be', content)
    default:
      return undefined
  }
}

function decode(encoding: 'utf-8' | 'ascii' | 'latin1' | 'utf-16be', content: Uint8Array): string {
  if (encoding === 'ascii' && content.some(byte => byte > 0x7f)) throw new DerError('a text outside its alphabet')
  if (encoding === 'ascii' || encoding === 'latin1') return Buffer.from(content).toString('latin1')
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(content)
  } catch (cause) {
    throw new DerError('a text that is not in its encoding', { cause })
  }
}
