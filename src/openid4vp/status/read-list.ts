// Reads status lists and lists of identifiers, as they are fetched or stored. Throws `StatusFault`.

import { CLOCK_SKEW_MS } from '../credential.ts'
import type { ListBytes, ListMedia } from '../trust/list-cache.ts'
import { IDENTIFIERS_BYTES_MAX, type IdentifierToken, readIdentifierList } from './identifier-list.ts'
import { readStatusCwt, readStatusJwt, StatusFault, type StatusToken } from './token.ts'

/**
 * The caller guards the destination, follows redirects, and limits time and size. `reason` is a clause for the merchant, such
 * as "it did not answer within 5 seconds"; `remedy` is a sentence that replaces "Try again later."
 */
export type FetchStatus = (
  uri: string,
  options: { accept: string; bytesMax: number; isLocal: boolean },
) => Promise<{ ok: true; contentType: string; body: Uint8Array } | { ok: false; reason: string; remedy?: string }>

export type ReadIdentifiers = typeof readIdentifierList

export const STATUS_BODY_BYTES_MAX = 2 * 1024 * 1024

type Wanted = { accept: string; bytesMax: number; media: readonly ListMedia[] }

// SD-JWT VC draft 13 § 3.2.2.2 allows the JWT form only; mdocs use both.
export const WANTED = {
  'dc+sd-jwt': { accept: 'application/statuslist+jwt', bytesMax: STATUS_BODY_BYTES_MAX, media: ['statuslist+jwt'] },
  mso_mdoc: {
    accept: 'application/statuslist+cwt, application/statuslist+jwt;q=0.9',
    bytesMax: STATUS_BODY_BYTES_MAX,
    media: ['statuslist+cwt', 'statuslist+jwt'],
  },
  identifiers: { accept: 'application/identifierlist+cwt', bytesMax: IDENTIFIERS_BYTES_MAX, media: ['identifierlist+cwt'] },
} as const satisfies Record<string, Wanted>

export type Token = StatusToken | IdentifierToken

export type ReadList = { list: ListBytes; parsed: Token }

type Reading = { uri: string; now: number; readIdentifiers?: ReadIdentifiers }

export async function readAnswer(
  answer: Awaited<ReturnType<FetchStatus>>,
  { media: allowed, bytesMax }: Wanted,
  reading: Reading,
): Promise<ReadList> {
  if (!answer.ok) throw new StatusFault(unreachable(answer.reason, answer.remedy))
  if (answer.body.length > bytesMax) throw new StatusFault(unreachable('it is too large'))
  const type = answer.contentType.split(';', 1)[0]?.trim().toLowerCase()
  const media = allowed.find(each => type === `application/${each}`)
  if (!media)
    throw new StatusFault("What is at the address of the issuer's status list is not one, so the credential may be revoked.")
  return await readKept({ media, bytes: answer.body, fetchedAt: reading.now, from: 'fetched' }, reading)
}

export async function readKept(
  { media, bytes, fetchedAt, from }: Pick<ListBytes, 'media' | 'bytes' | 'fetchedAt' | 'from'>,
  { uri, now, readIdentifiers = readIdentifierList }: Reading,
): Promise<ReadList> {
  const parsed = await readToken(media, bytes, readIdentifiers)
  const fault = findTokenFault(parsed, uri, now)
  if (fault !== undefined) throw new StatusFault(fault)
  const { issuedAt, expiresAt: endsAt = null, ttlMs = null } = parsed
  return { list: { uri, media, bytes, issuedAt, endsAt, ttlMs, fetchedAt, from }, parsed }
}

function readToken(media: ListMedia, bytes: Uint8Array, readIdentifiers: ReadIdentifiers): Promise<Token> {
  if (media === 'identifierlist+cwt') return readIdentifiers(bytes)
  return media === 'statuslist+cwt' ? readStatusCwt(bytes) : readStatusJwt(Buffer.from(bytes).toString('latin1').trim())
}

export function unreachable(reason: string, remedy = 'Try again later.'): string {
  return `The issuer's status list could not be fetched: ${reason}. ${remedy}`
}

/** Token Status List § 8.3. */
export function findTokenFault(token: Token, uri: string, now: number): string | undefined {
  if (token.uri !== uri) return "The issuer's status list is made for another address, so the credential may be revoked."
  if (token.expiresAt !== undefined && token.expiresAt <= now) return "The issuer's status list has expired. Try again later."
  if (token.countsFrom > now + CLOCK_SKEW_MS)
    return "The issuer's status list is dated in the future: check the clock of this server."
  return undefined
}
