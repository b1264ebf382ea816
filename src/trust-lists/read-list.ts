import { readEtsiXml } from './etsi-xml.ts'
import type { ListKind, ReadList } from './list.ts'
import { readLote } from './lote.ts'
import { refuse } from './refuse.ts'
import { readVical } from './vical.ts'

/** The largest known list, Spain's, has 3 MB. */
export const LIST_BYTES_MAX = 4 * 1024 * 1024
const LOOKED_AT_BYTES = 4096

/** Form, signature and entries. Who signed it and when it ends is judged elsewhere. */
export function readList(kind: ListKind, bytes: Uint8Array): ReadList {
  if (bytes.length > LIST_BYTES_MAX) return refuse('too_large', `it is larger than ${LIST_BYTES_MAX / 1024 / 1024} MiB`)
  if (bytes.length === 0) return refuse('malformed', 'it is empty')
  const found = kindOf(bytes)
  if (found && found !== kind) return refuse('not_this_kind', `it is ${NAMES[found]}, not ${NAMES[kind]}`)
  switch (kind) {
    case 'vical':
      return readVical(bytes)
    case 'lote':
      return readLote(bytes)
    case 'etsi-xml':
      return readEtsiXml(bytes)
  }
}

const NAMES: Record<ListKind, string> = {
  vical: 'a VICAL',
  'etsi-xml': 'an ETSI list in XML',
  lote: 'an ETSI list in JSON (LoTE)',
}

/** The kind, from the first bytes, signed or not; undefined for anything else, such as a web page. */
export function kindOf(bytes: Uint8Array): ListKind | undefined {
  if (isSign1(bytes)) return 'vical'
  const start = Buffer.from(bytes.subarray(0, LOOKED_AT_BYTES))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
  if (/^<[\s\S]*\bTrustServiceStatusList\b/.test(start)) return 'etsi-xml'
  if (/^eyJ[\w-]*(?:\.|$)/.test(start)) return 'lote'
  return /^\{[\s\S]*?"(?:payload|protected|signatures?|LoTE|ListAndSchemeInformation)"\s*:/.test(start) ? 'lote' : undefined
}

const SIGN1_TAG = 0xd2
const ARRAY_OF_FOUR = 0x84
const BYTES_MAJOR = 2

/** COSE_Sign1, tagged or not: an array of four that begins with a byte string. */
function isSign1([first, second, third]: Uint8Array): boolean {
  const [array, header] = first === SIGN1_TAG ? [second, third] : [first, second]
  return array === ARRAY_OF_FOUR && (header ?? 0) >> 5 === BYTES_MAJOR
}
