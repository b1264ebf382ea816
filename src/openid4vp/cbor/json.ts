import { setMember } from '../../base/members.ts'
import { CborError, CborTag } from './item.ts'

const DATE_TIME = 0
const FULL_DATE = 1004

/**
 * A decoded value as JSON: dates as text, byte strings as base64url, integers beyond 2^53 as text,
 * other tags with their number. Throws CborError for U+0000, which is refused in JSON as well.
 */
export function cborToJson(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'string') return textToJson(value)
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64url')
  if (Array.isArray(value)) return value.map(cborToJson)
  if (value instanceof Map) return mapToJson(value)
  if (!(value instanceof CborTag)) return value
  const isDate = (value.tag === DATE_TIME || value.tag === FULL_DATE) && typeof value.value === 'string'
  return isDate ? cborToJson(value.value) : { tag: value.tag, value: cborToJson(value.value) }
}

function mapToJson(map: Map<unknown, unknown>): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  for (const [key, member] of map) setMember(members, textToJson(String(key)), cborToJson(member))
  return members
}

function textToJson(text: string): string {
  if (text.includes('\0')) throw new CborError('a text with U+0000')
  return text
}
