// Translations of a .po file, and the .mo file that WordPress reads.

/** Translations by the English text; the entry of the empty text is the header. Texts stand on one line, but for the header. */
export function readPo(text: string): Map<string, string> {
  const entries = text.matchAll(/^msgid ((?:"(?:[^"\\]|\\.)*"\n)+)msgstr ((?:"(?:[^"\\]|\\.)*"\n?)+)/gm)
  return new Map([...entries].map(([, id = '', translation = '']) => [unquoted(id), unquoted(translation)]))
}

/** A line of a .po file is quoted as JSON is. */
const unquoted = (lines: string): string =>
  lines
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as string)
    .join('')

const MAGIC = 0x950412de
const HEAD_BYTES = 28

/** Sorted by the English text, as the format wants it. */
export function moOf(translations: ReadonlyMap<string, string>): Uint8Array {
  const pairs = [...translations].map(pair => pair.map(text => Buffer.from(text))).toSorted(([a], [b]) => Buffer.compare(a!, b!))
  const count = pairs.length
  const tables = [Buffer.alloc(8 * count), Buffer.alloc(8 * count)]
  const texts: Buffer[] = []
  let offset = HEAD_BYTES + 16 * count
  for (const side of [0, 1])
    for (const [index, pair] of pairs.entries()) {
      const text = pair[side]!
      tables[side]!.writeUInt32LE(text.length, 8 * index)
      tables[side]!.writeUInt32LE(offset, 8 * index + 4)
      texts.push(text, Buffer.alloc(1))
      offset += text.length + 1
    }
  const head = Buffer.alloc(HEAD_BYTES)
  const fields = [MAGIC, 0, count, HEAD_BYTES, HEAD_BYTES + 8 * count, 0, offset]
  for (const [index, value] of fields.entries()) head.writeUInt32LE(value, 4 * index)
  return Buffer.concat([head, ...tables, ...texts])
}
