import { useEffect, useState } from 'preact/hooks'
import type { Till } from '../../devices/schema.ts'
import type { Verification } from '../../verifications/schema.ts'
import { ApiFailure } from '../shared/api.ts'
import { endCheck } from './check.ts'
import { persist } from './connection.ts'
import type { Check } from './memory.ts'
import { callTill } from './tokens.ts'

/** What a cashier needs of a verification, and no more. It lives as long as it is on the screen. */
export type Verdict = {
  isYes: boolean
  /** Why not. */
  code?: string
  at?: string
  issuer?: { name?: string; country?: string }
  /** As the address of an image. */
  picture?: string
  claims: [name: string, value: unknown][]
}

export type TillTemplate = Till['templates'][number]

/** The verdict, as soon as the service answers. Where it decided an age, the yes says it all: beside it only the photo is shown. */
export function useVerdict(check: Check, template: TillTemplate | undefined): Verdict | undefined {
  const { id = '' } = check
  const [verification, setVerification] = useState<Verification>()
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    persist(() => callTill<Verification>(`v1/verifications/${encodeURIComponent(id)}`, { signal }), signal).then(
      setVerification,
      (error: unknown) => {
        // Deleted since, or no longer ours to read.
        if (!signal.aborted && error instanceof ApiFailure && error.status === 404) endCheck(check)
      },
    )
    return () => ended.abort()
  }, [id])
  return verification && reduced(verification, template)
}

function reduced(
  { status, error, responded_at, credentials, claims = {} }: Verification,
  template: TillTemplate | undefined,
): Verdict {
  const isAgeOnly = template?.age_over !== undefined
  const { picture, ...others } = claims
  const issuer = credentials?.[0]?.issuer
  const isTooYoung = !isAgeOnly && deniesAge(claims, template?.ruled)
  const code = isTooYoung ? 'claim_not_satisfied' : error?.code
  return {
    isYes: status === 'completed' && !isTooYoung,
    ...(code !== undefined && { code }),
    ...(responded_at !== undefined && { at: responded_at }),
    ...(issuer && { issuer: { name: issuer.common_name, country: issuer.country } }),
    ...(typeof picture === 'string' && { picture: imageUrl(picture) }),
    claims: isAgeOnly ? [] : flat(others),
  }
}

/** An age on which the template has no rule, as with `rules: []`, may be denied by a completed session: that is nothing to sell on. */
const deniesAge = (claims: Record<string, unknown>, ruled: readonly string[] = []): boolean =>
  Object.entries(claims).some(([name, value]) => /^age_over_\d+$/.test(name) && value !== true && !ruled.includes(name))

/** An mdoc's photo comes as bytes, an SD-JWT's as an address that holds them; nothing else is an image here. */
function imageUrl(picture: string): string | undefined {
  if (/^data:image\/(jpeg|png|webp);base64,[A-Za-z0-9+/=]+$/.test(picture)) return picture
  if (!/^[\w-]+$/.test(picture)) return undefined
  return `data:image/jpeg;base64,${picture.replaceAll('-', '+').replaceAll('_', '/')}`
}

/** Nested claims under the names that their words have: `address.locality`. */
const flat = (claims: Record<string, unknown>, above = ''): [string, unknown][] =>
  Object.entries(claims).flatMap(([name, value]) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? flat(value as Record<string, unknown>, `${above}${name}.`)
      : [[`${above}${name}`, value] as [string, unknown]],
  )
