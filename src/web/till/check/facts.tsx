import { Icon } from '../../kit/icons.tsx'
import { useClaimWords } from '../../shared/claims.ts'
import { useRegion } from '../../shared/language.ts'
import { type TillWords, useTillWords } from '../words.ts'

const COUNTRIES = ['nationalities', 'issuing_country', 'address.country', 'place_of_birth.country']

/** About the document, not about the person: folded, so that a face, a name and a date fit the screen. */
const OF_DOCUMENT = [
  'date_of_expiry',
  'date_of_issuance',
  'issuing_authority',
  'issuing_country',
  'document_number',
  'personal_administrative_number',
  'un_distinguishing_sign',
]

type Claims = readonly [name: string, value: unknown][]

/** The claims of the customer, for a cashier. */
export function Facts({ claims }: { claims: Claims }) {
  const words = useTillWords()
  const isFolded = ([name]: Claims[number]) => OF_DOCUMENT.includes(name)
  const folded = claims.filter(isFolded)
  return (
    <div class="facts stack">
      <FactList claims={claims.filter(each => !isFolded(each))} />
      {folded.length > 0 && (
        <details class="unfolds">
          <summary>
            <Icon name="down" />
            {words.ofDocument}
          </summary>
          <FactList claims={folded} />
        </details>
      )}
    </div>
  )
}

function FactList({ claims }: { claims: Claims }) {
  const words = useTillWords()
  const region = useRegion()
  const { claim } = useClaimWords()
  return (
    <dl class="grid">
      {claims.map(([name, value]) => (
        <div key={name}>
          <dt class="small">{name === 'driving_privileges' ? words.mayDrive : claim(name)}</dt>
          <dd class="breaks">{readable(words, region, name, value)}</dd>
        </div>
      ))}
    </dl>
  )
}

function readable(words: TillWords, region: string, name: string, value: unknown): string {
  if (Array.isArray(value) && value.every(isPrivilege)) return readablePrivileges(words, region, value)
  if (Array.isArray(value)) return value.map(each => readable(words, region, name, each)).join(', ')
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (typeof value !== 'string') return typeof value === 'object' ? JSON.stringify(value) : String(value)
  return COUNTRIES.includes(name) ? readableCountry(region, value) : readableDate(region, value)
}

/** ISO/IEC 18013-5 § 7.2.4. */
type Privilege = { vehicle_category_code: string; expiry_date?: string }

const isPrivilege = (value: unknown): value is Privilege =>
  value !== null && typeof value === 'object' && 'vehicle_category_code' in value

/** Classes with the same end date are grouped. */
function readablePrivileges(words: TillWords, region: string, privileges: readonly Privilege[]): string {
  const byEnd = Map.groupBy(privileges, ({ expiry_date }) => expiry_date ?? '')
  return [...byEnd]
    .map(([end, group]) => {
      const classes = group.map(each => each.vehicle_category_code).join(', ')
      return end ? `${classes} (${words.until(readableDate(region, end))})` : classes
    })
    .join('; ')
}

const readableDate = (region: string, text: string): string =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
    ? new Intl.DateTimeFormat(region, { dateStyle: 'long', timeZone: 'UTC' }).format(Date.parse(text))
    : text

function readableCountry(region: string, code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return code
  return new Intl.DisplayNames(region, { type: 'region', fallback: 'code' }).of(code) ?? code
}
