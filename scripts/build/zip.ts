// A zip file of text files. Its times are fixed, so that the same sources give the same bytes.
import { crc32, deflateRawSync } from 'node:zlib'

const DEFLATED = 8
const UTF8_NAMES = 1 << 11
/** 1 January 1980, the first day that a zip can name. */
const DATE = (1 << 5) | 1
const VERSION = 20
const MADE_ON_UNIX = 3 << 8
const MODE = (0o100644 << 16) >>> 0

export function zipOf(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [path, content] of files) {
    const name = Buffer.from(path)
    const data = deflateRawSync(content)
    const common = numbers(
      [2, VERSION],
      [2, UTF8_NAMES],
      [2, DEFLATED],
      [2, 0],
      [2, DATE],
      [4, crc32(content)],
      [4, data.length],
      [4, content.length],
      [2, name.length],
      [2, 0],
    )
    const body = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, data])
    const place = numbers([2, 0], [2, 0], [2, 0], [4, MODE], [4, offset])
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), numbers([2, MADE_ON_UNIX | VERSION]), common, place, name]))
    bodies.push(body)
    offset += body.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const end = numbers([2, 0], [2, 0], [2, files.size], [2, files.size], [4, size], [4, offset], [2, 0])
  return Buffer.concat([...bodies, ...directory, Buffer.from('PK\x05\x06'), end])
}

/** Little-endian, each with its number of bytes. */
function numbers(...fields: [bytes: 2 | 4, value: number][]): Buffer {
  return Buffer.concat(
    fields.map(([bytes, value]) => {
      const field = Buffer.alloc(bytes)
      field.writeUIntLE(value, 0, bytes)
      return field
    }),
  )
}
