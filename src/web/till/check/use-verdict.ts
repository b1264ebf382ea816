import { useEffect, useState } from 'preact/hooks'
import { staleListTime } from '../../../base/stale-list.ts'
import type { Till } from '../../../devices/schema.ts'
import type { Verification } from '../../../verifications/schema.ts'
import { ApiFailure } from '../../shared/api.ts'
import { deniesAge } from '../../shared/claims.ts'
import { pause, persist } from '../connection.ts'
import type { Check } from '../memory.ts'
import { callTill } from '../tokens.ts'
import { endCheck } from './check.ts'

const AGAIN_MS = 1000

/** The part of a verification that a cashier needs. Never stored. */
export type Verdict = {
  isYes: boolean
  code?: string
  at?: string
  issuer?: { name?: string; country?: string }
  /** The time of the issuer's list that it was checked against, where no newer one could be fetched. */
  asOf?: number
  /** An image URL; null if this browser cannot show it. */
  picture?: string | null
  claims: [name: string, value: unknown][]
}

export type TillTemplate = Till['templates'][number]

/** The verdict, once the service answers; `decided` is its answer already. For an age template it has no claims. */
export function useVerdict(
  check: Check,
  template: TillTemplate | undefined,
  decided: Verification | undefined,
): Verdict | undefined {
  const { id = '' } = check
  const [verification, setVerification] = useState(decided)
  useEffect(() => {
    if (decided) return
    const ended = new AbortController()
    const { signal } = ended
    readEnded(id, signal).then(setVerification, (error: unknown) => {
      // Deleted since, or no longer readable for this till.
      if (!signal.aborted && error instanceof ApiFailure && error.status === 404) endCheck(check)
    })
    return () => ended.abort()
  }, [id])
  return verification && reduced(verification, template)
}

/** The clock of the node that said that it has ended may be ahead of the next one's. */
async function readEnded(id: string, signal: AbortSignal): Promise<Verification> {
  for (;;) {
    const path = `v1/verifications/${encodeURIComponent(id)}`
    const found = await persist(() => callTill<Verification>(path, { signal }), signal)
    if (found.status !== 'pending') return found
    await pause(AGAIN_MS, signal)
    signal.throwIfAborted()
  }
}

function reduced(
  { status, error, responded_at, credentials, claims = {} }: Verification,
  template: TillTemplate | undefined,
): Verdict {
  const isAgeOnly = template?.age_over !== undefined
  const { picture, ...others } = claims
  const issuer = credentials?.[0]?.issuer
  const listTimes = credentials?.flatMap(({ findings }) => findings.flatMap(({ detail }) => staleListTime(detail) ?? [])) ?? []
  const asOf = listTimes.length > 0 ? Math.min(...listTimes) : undefined
  const isTooYoung = deniesAge(claims, template?.ruled)
  const code = isTooYoung ? 'claim_not_satisfied' : error?.code
  return {
    isYes: status === 'completed' && !isTooYoung,
    ...(code !== undefined && { code }),
    ...(responded_at !== undefined && { at: code === 'not_compared' ? endOfComparison(responded_at) : responded_at }),
    ...(asOf !== undefined && { asOf }),
    ...(issuer && { issuer: { name: issuer.common_name, country: issuer.country } }),
    ...(typeof picture === 'string' && { picture: imageUrl(picture) ?? null }),
    claims: isAgeOnly ? [] : flat(others),
  }
}

/** The session ends so long after the answer when nobody compares. */
const COMPARISON_MS = 120_000
const endOfComparison = (answeredAt: string): string => new Date(Date.parse(answeredAt) + COMPARISON_MS).toISOString()

/** The photo of an mdoc is base64url, that of an SD-JWT a data URL. */
function imageUrl(picture: string): string | undefined {
  if (/^data:image\/(jpeg|png|webp);base64,[A-Za-z0-9+/=]+$/.test(picture)) return picture
  if (!/^[\w-]+$/.test(picture)) return undefined
  return `data:image/jpeg;base64,${picture.replaceAll('-', '+').replaceAll('_', '/')}`
}

/** Nested claims under the names of the dictionary: `address.locality`. */
const flat = (claims: Record<string, unknown>, above = ''): [string, unknown][] =>
  Object.entries(claims).flatMap(([name, value]) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? flat(value as Record<string, unknown>, `${above}${name}.`)
      : [[`${above}${name}`, value] as [string, unknown]],
  )
