import { useClaimWords } from '../shared/claims.ts'
import { useLanguage } from '../shared/language.tsx'
import { type TillWords, useTillWords } from './words.ts'

const COUNTRIES = ['nationalities', 'issuing_country', 'address.country', 'place_of_birth.country']

/** What the customer shared, as a cashier reads it. */
export function Facts({ claims }: { claims: readonly [string, unknown][] }) {
  const words = useTillWords()
  const language = useLanguage()
  const { claim } = useClaimWords()
  return (
    <dl class="facts">
      {claims.map(([name, value]) => (
        <div key={name}>
          <dt>{name === 'driving_privileges' ? words.mayDrive : claim(name)}</dt>
          <dd>{readable(words, language, name, value)}</dd>
        </div>
      ))}
    </dl>
  )
}

function readable(words: TillWords, language: string, name: string, value: unknown): string {
  if (Array.isArray(value) && value.every(isPrivilege)) return readablePrivileges(words, language, value)
  if (Array.isArray(value)) return value.map(each => readable(words, language, name, each)).join(', ')
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (typeof value !== 'string') return typeof value === 'object' ? JSON.stringify(value) : String(value)
  return COUNTRIES.includes(name) ? readableCountry(language, value) : readableDate(language, value)
}

/** ISO/IEC 18013-5 § 7.2.4. */
type Privilege = { vehicle_category_code: string; expiry_date?: string }

const isPrivilege = (value: unknown): value is Privilege =>
  value !== null && typeof value === 'object' && 'vehicle_category_code' in value

/** Classes that end on the same day are named together. */
function readablePrivileges(words: TillWords, language: string, privileges: readonly Privilege[]): string {
  const byEnd = Map.groupBy(privileges, ({ expiry_date }) => expiry_date ?? '')
  return [...byEnd]
    .map(([end, group]) => {
      const classes = group.map(each => each.vehicle_category_code).join(', ')
      return end ? `${classes} (${words.until(readableDate(language, end))})` : classes
    })
    .join('; ')
}

const readableDate = (language: string, text: string): string =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
    ? new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(Date.parse(text))
    : text

function readableCountry(language: string, code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return code
  return new Intl.DisplayNames(language, { type: 'region', fallback: 'code' }).of(code) ?? code
}
