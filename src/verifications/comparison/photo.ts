import { isObject } from '../../base/members.ts'
import { PORTRAITS } from '../../templates/builtin.ts'
import type { Result } from '../portraits.ts'

/** The portrait as a data URL; an empty one where it is nothing that a browser could show. */
export function portraitUrl({ claims = {}, credentials = [] }: Result): string {
  const places = [claims, ...credentials.map(each => each.claims)].flatMap(each => [
    each,
    ...Object.values(each).filter(isObject),
  ])
  const found = places.flatMap(place => PORTRAITS.flatMap(name => (Object.hasOwn(place, name) ? [place[name]] : [])))
  return found.map(imageUrl).find(url => url !== undefined) ?? 'data:,'
}

/** That of an SD-JWT is a data URL; that of an mdoc are bytes, in base64url. */
function imageUrl(portrait: unknown): string | undefined {
  if (typeof portrait !== 'string' || portrait === '') return undefined
  if (/^data:image\/[\w.+-]+;base64,[A-Za-z0-9+/=]+$/.test(portrait)) return portrait
  if (!/^[\w-]+$/.test(portrait)) return undefined
  const bytes = Buffer.from(portrait, 'base64url')
  return `data:${mediaTypeOf(bytes)};base64,${bytes.toString('base64')}`
}

/** The first bytes of JPEG, PNG and JPEG 2000 (ISO/IEC 18013-5 § 7.2.2 allows the first and the last). */
const MEDIA_TYPES: readonly (readonly [start: string, type: string])[] = [
  ['ffd8ff', 'image/jpeg'],
  ['89504e47', 'image/png'],
  ['0000000c6a502020', 'image/jp2'],
]

const mediaTypeOf = (bytes: Buffer): string =>
  MEDIA_TYPES.find(([start]) => bytes.subarray(0, 8).toString('hex').startsWith(start))?.[1] ?? 'application/octet-stream'
