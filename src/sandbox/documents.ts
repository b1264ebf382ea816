// The content of the sandbox documents. Names follow the EU PID rulebook and ISO 18013-5.
import { fromBase64 } from './bytes.ts'
import { type Cbor, cborMap, Tag } from './cbor.ts'
import type { Json } from './json.ts'
import { PORTRAITS } from './portraits.ts'

/** No country has this code. The certificate of the document signer contains it too, as ISO 18013-5 Annex B asks for. */
export const COUNTRY = 'UT'
const AUTHORITY = 'Utopia Sandbox Authority'
const AGES = [16, 18, 21, 65]

type Person = {
  familyName: string
  givenName: string
  birthFamilyName: string
  /** YYYY-MM-DD, as all dates here. */
  birthDate: string
  /** ISO/IEC 5218. */
  sex: number
  nationalities: string[]
  birthPlace: { country: string; region: string; locality: string }
  address: { street: string; houseNumber: string; postalCode: string; city: string; state: string; country: string }
  email: string
  phone: string
  portrait: string
  drivingCategories: string[]
  documentNumber: string
}

/** Ages are counted on the day `today`. */
export type Document = { person: Person; today: string; issueDate: string; expiryDate: string }

export type Element = readonly [namespace: string, element: string, value: Cbor]

const HOME = { street: 'Heidestraße', houseNumber: '17', postalCode: '51147', city: 'Köln', state: 'NW', country: 'DE' }
const BIRTH_PLACE = { country: 'DE', region: 'BE', locality: 'Berlin' }

export function personOf(id: 'adult' | 'minor', today: string): Person {
  if (id === 'adult') {
    return {
      familyName: 'Mustermann',
      givenName: 'Erika',
      birthFamilyName: 'Gabler',
      birthDate: '1990-08-12',
      sex: 2,
      nationalities: ['DE', 'AT'],
      birthPlace: BIRTH_PLACE,
      address: HOME,
      email: 'erika@example.com',
      phone: '+4930123456',
      portrait: PORTRAITS.adult,
      drivingCategories: ['AM', 'B', 'L'],
      documentNumber: 'UT90081201',
    }
  }
  return {
    familyName: 'Mustermann',
    givenName: 'Leon',
    birthFamilyName: 'Mustermann',
    // Fifteen years old on every day of the year.
    birthDate: `${yearOf(today) - 15}-01-01`,
    sex: 1,
    nationalities: ['DE'],
    birthPlace: BIRTH_PLACE,
    address: HOME,
    email: 'leon@example.com',
    phone: '+4930123457',
    portrait: PORTRAITS.minor,
    drivingCategories: ['AM'],
    documentNumber: 'UT11010101',
  }
}

export function pidClaims({ person, today, issueDate, expiryDate }: Document): Record<string, Json> {
  const { address } = person
  return {
    family_name: person.familyName,
    given_name: person.givenName,
    birthdate: person.birthDate,
    place_of_birth: person.birthPlace,
    nationalities: person.nationalities,
    address: {
      street_address: address.street,
      house_number: address.houseNumber,
      postal_code: address.postalCode,
      locality: address.city,
      region: address.state,
      country: address.country,
    },
    age_equal_or_over: Object.fromEntries(AGES.map(age => [String(age), ageOn(today, person) >= age])),
    age_in_years: ageOn(today, person),
    age_birth_year: yearOf(person.birthDate),
    birth_family_name: person.birthFamilyName,
    sex: person.sex,
    email: person.email,
    phone_number: person.phone,
    picture: `data:image/jpeg;base64,${person.portrait}`,
    document_number: person.documentNumber,
    date_of_issuance: issueDate,
    date_of_expiry: expiryDate,
    issuing_authority: AUTHORITY,
    issuing_country: COUNTRY,
  }
}

export function pidElements(document: Document): Element[] {
  const { person, issueDate } = document
  return within('eu.europa.ec.eudi.pid.1', {
    ...commonElements(document),
    ...residence(person),
    resident_street: person.address.street,
    resident_house_number: person.address.houseNumber,
    place_of_birth: cborMap(person.birthPlace),
    nationality: person.nationalities,
    family_name_birth: person.birthFamilyName,
    sex: person.sex,
    email_address: person.email,
    mobile_phone_number: person.phone,
    issuance_date: fullDate(issueDate),
    ...ageElements(document),
  })
}

export function mdlElements(document: Document): Element[] {
  const { person, issueDate, expiryDate } = document
  return within('org.iso.18013.5.1', {
    ...commonElements(document),
    ...residence(person),
    issue_date: fullDate(issueDate),
    driving_privileges: person.drivingCategories.map(category =>
      cborMap({ vehicle_category_code: category, issue_date: fullDate(issueDate), expiry_date: fullDate(expiryDate) }),
    ),
    un_distinguishing_sign: 'UTO',
    sex: person.sex,
    birth_place: person.birthPlace.locality,
    nationality: person.nationalities[0]!,
    age_in_years: ageOn(document.today, person),
    age_birth_year: yearOf(person.birthDate),
    ...ageElements(document),
  })
}

/** Ages only: that is the purpose of the document. */
export const proofOfAgeElements = (document: Document): Element[] => within('eu.europa.ec.av.1', ageElements(document))

export const photoIdElements = (document: Document): Element[] =>
  within('org.iso.23220.1', {
    ...commonElements(document),
    // A map, because ISO/IEC 23220-2 allows an unknown day or month.
    birth_date: cborMap({ birth_date: fullDate(document.person.birthDate) }),
    issue_date: fullDate(document.issueDate),
    ...ageElements(document),
  })

const commonElements = ({ person, expiryDate }: Document): Record<string, Cbor> => ({
  family_name: person.familyName,
  given_name: person.givenName,
  birth_date: fullDate(person.birthDate),
  portrait: fromBase64(person.portrait),
  document_number: person.documentNumber,
  expiry_date: fullDate(expiryDate),
  issuing_authority: AUTHORITY,
  issuing_country: COUNTRY,
})

const within = (namespace: string, elements: Readonly<Record<string, Cbor>>): Element[] =>
  Object.entries(elements).map(([element, value]) => [namespace, element, value])

const ageElements = ({ person, today }: Document): Record<string, Cbor> =>
  Object.fromEntries(AGES.map(age => [`age_over_${age}`, ageOn(today, person) >= age]))

const residence = ({ address }: Person): Record<string, Cbor> => ({
  resident_address: `${address.street} ${address.houseNumber}, ${address.postalCode} ${address.city}`,
  resident_postal_code: address.postalCode,
  resident_city: address.city,
  resident_state: address.state,
  resident_country: address.country,
})

/** RFC 8943. */
const fullDate = (date: string): Tag => new Tag(date, 1004)

const yearOf = (date: string): number => Number(date.slice(0, 4))

function ageOn(today: string, { birthDate }: Person): number {
  const hadBirthday = today.slice(5) >= birthDate.slice(5)
  return yearOf(today) - yearOf(birthDate) - (hadBirthday ? 0 : 1)
}
