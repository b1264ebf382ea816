import { isoUtc } from '../../base/time.ts'
import type { Config } from '../../config.ts'
import { asOf, type ListBytes } from '../../openid4vp/trust/list-cache.ts'

type Listed = Omit<ListBytes, 'bytes'> & { wanted: number }

/** `good_until`: how long it counts on a machine that cannot fetch a newer one. */
export const presentList = (list: Listed, { statusMaxAgeMs }: Pick<Config, 'statusMaxAgeMs'>) => ({
  uri: list.uri,
  media: list.media,
  issued_at: isoUtc(list.issuedAt),
  ends_at: list.endsAt === null ? null : isoUtc(list.endsAt),
  as_of: isoUtc(asOf(list)),
  good_until: isoUtc(goodUntil(list, statusMaxAgeMs)),
  from: list.from,
  wanted: list.wanted === 1,
})

/** Revocation lists of authorities count until their own end; the others as long as the setting allows. */
export function goodUntil(list: Omit<ListBytes, 'bytes'>, maxAgeMs: number): number {
  const end = list.endsAt ?? Number.POSITIVE_INFINITY
  return list.media === 'crl' ? end : Math.min(end, asOf(list) + maxAgeMs)
}
