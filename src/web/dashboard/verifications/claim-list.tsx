import type { ComponentChildren } from 'preact'
import type { Verification } from '../../../verifications/schema.ts'
import { useClaimWords } from '../../shared/claims.ts'
import { useFormat } from '../format.ts'
import { Facts } from '../parts/facts.tsx'
import { useMaySeeClaims } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { useVerificationWords } from './words.ts'

const DAY = /^\d{4}-\d\d-\d\d$/
const PICTURES = ['picture', 'portrait']

/** The claims with readable names; the portrait as a picture. */
export function ClaimList({ verification: { status, claims } }: { verification: Verification }) {
  const words = useVerificationWords()
  const name = useClaimName()
  const say = useValue()
  const maySee = useMaySeeClaims()
  if (status !== 'completed') return null
  const flat = flatClaims(claims ?? {})
  const portrait = flat.map(([key, value]) => PICTURES.includes(key) && pictureUrl(value)).find(Boolean)
  const told = flat.filter(([key, value]) => !(PICTURES.includes(key) && pictureUrl(value)))
  return (
    <section class="stack tight">
      <h3>{words.claims}</h3>
      {flat.length === 0 ? (
        <p class="secondary">{maySee ? words.noClaims : words.hidden}</p>
      ) : (
        <div class="claims line start">
          {portrait && <img class="portrait" src={portrait} alt={words.portrait} />}
          <Facts facts={told.map(([key, value]) => [name(key), say(value)])} />
        </div>
      )}
      {flat.length > 0 && <p class="hint">{words.readNote}</p>}
    </section>
  )
}

/** The shared words address the holder; the dashboard has its own. */
export function useClaimName(): (name: string) => string {
  const words = useVerificationWords()
  const { claim } = useClaimWords()
  return name => {
    const years = /^age_over_(\d+)$/.exec(name)?.[1]
    if (years) return words.ageOver(years)
    return words.claimNames[name] ?? claim(name)
  }
}

/** Nested claims become lines of their own, their names joined by dots. */
function flatClaims(claims: Record<string, unknown>, prefix = ''): [string, unknown][] {
  return Object.entries(claims).flatMap(([name, value]) =>
    isObject(value) ? flatClaims(value, `${prefix}${name}.`) : [[`${prefix}${name}`, value] as [string, unknown]],
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

function useValue(): (value: unknown) => ComponentChildren {
  const words = useDashboardWords()
  const verification = useVerificationWords()
  const { day } = useFormat()
  const dated = (text: string) => (DAY.test(text) ? day(text) : text)
  const say = (value: unknown): string => {
    if (typeof value === 'boolean') return value ? words.yes : words.no
    if (Array.isArray(value)) return value.map(say).join(', ')
    if (isObject(value)) return Object.values(value).map(say).join(' · ')
    return dated(String(value))
  }
  const sayPrivilege = ({ vehicle_category_code, issue_date, expiry_date, codes }: Privilege): string => {
    const dates = [
      typeof issue_date === 'string' && verification.from(dated(issue_date)),
      typeof expiry_date === 'string' && verification.until(dated(expiry_date)),
    ]
    const limits = Array.isArray(codes) ? codes.map(say) : []
    return [vehicle_category_code, dates.filter(Boolean).join(' '), ...limits].filter(Boolean).join(', ')
  }
  return value =>
    Array.isArray(value) && value.length > 0 && value.every(isPrivilege)
      ? value.map((each, i) => <div key={i}>{sayPrivilege(each)}</div>)
      : say(value)
}

/** ISO/IEC 18013-5 § 7.2.4. */
type Privilege = Record<string, unknown> & { vehicle_category_code: string }

const isPrivilege = (value: unknown): value is Privilege => isObject(value) && typeof value.vehicle_category_code === 'string'

/** An image from a data URL (SD-JWT) or base64url (mdoc); undefined if browsers cannot show it. */
function pictureUrl(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (/^data:image\/(jpeg|png|webp);base64,/.test(value)) return value
  const type = { _9j: 'jpeg', '/9j': 'jpeg', iVB: 'png' }[value.slice(0, 3)]
  return type && `data:image/${type};base64,${value.replaceAll('-', '+').replaceAll('_', '/')}`
}
