import { describe, expect, test } from 'bun:test'
import { type DcqlQuery, findDcqlProblem } from '../../src/openid4vp/dcql/dcql.ts'
import { BUILTIN_TEMPLATES, type Template } from '../../src/templates/builtin.ts'
import { ALIASES } from '../../src/templates/forms.ts'
import { withPurpose } from '../../src/templates/resolve.ts'
import expected from './builtin.json'

const MIXED = [
  'age_over_16',
  'age_over_18',
  'age_over_21',
  'age_over_65',
  'age_over_18_photo',
  'age_over_18_or_birthdate',
  'identity_basic',
  'pid_mandatory',
  'address',
  'country',
  'photo_id',
]
const MDOC_ONLY = ['eu_av_age_18', 'driving_licence', 'may_drive']
const TEMPLATES = [...BUILTIN_TEMPLATES.values()]

test('the catalogue has the first-release keys, and aliases for each format of a mixed template', () => {
  expect([...BUILTIN_TEMPLATES.keys()].sort()).toEqual([...MIXED, ...MDOC_ONLY].sort())
  expect([...ALIASES.keys()].sort()).toEqual(MIXED.flatMap(key => [`${key}_mdoc`, `${key}_sd_jwt`]).sort())
  expect([...BUILTIN_TEMPLATES].every(([key, template]) => key === template.key && key.length <= 64)).toBe(true)
})

describe('queries', () => {
  test.each(Object.entries(expected))('%s asks exactly what the catalogue says', (key, query) => {
    expect<unknown>(builtin(key).query).toEqual(query)
  })

  test.each([16, 21, 65])('age_over_%d is age_over_18 with another age', age => {
    const text = JSON.stringify(expected.age_over_18).replaceAll('age_over_18', `age_over_${age}`).replaceAll('"18"', `"${age}"`)
    expect(builtin(`age_over_${age}`).query).toEqual(JSON.parse(text))
  })

  test('may_drive is driving_licence with privileges, expiry and face only', () => {
    const [licence] = expected.driving_licence.credentials
    const claims = ['driving_privileges', 'expiry_date', 'portrait'].map(element => ({
      path: ['org.iso.18013.5.1', element],
      intent_to_retain: false,
    }))
    expect<unknown>(builtin('may_drive').query).toEqual({
      credentials: [{ ...licence, claims }],
      credential_sets: [{ options: [['mdl']] }],
    })
  })

  test.each([...ALIASES.values()])(
    '$key is its template without the other format',
    ({ template: { query }, format: only, query: narrowed }) => {
      const kept = query.credentials.filter(({ format }) => format === only)
      const options = query.credential_sets?.[0]?.options.filter(ids =>
        ids.every(id => kept.some(credential => credential.id === id)),
      )
      expect(kept.length).toBeGreaterThan(0)
      expect(narrowed).toEqual({ credentials: kept, credential_sets: [{ options: options ?? [] }] })
      expect(findDcqlProblem(narrowed)).toBeUndefined()
    },
  )

  test('no query asks for values, and no mdoc claim is retained', () => {
    const claims = TEMPLATES.flatMap(({ query }) =>
      query.credentials.flatMap(({ format, claims = [] }) => claims.map(claim => ({ ...claim, format }))),
    )
    expect(claims.filter(claim => 'values' in claim)).toEqual([])
    expect(claims.filter(claim => claim.format === 'mso_mdoc' && claim.intent_to_retain !== false)).toEqual([])
    expect(claims.filter(claim => claim.format === 'dc+sd-jwt' && 'intent_to_retain' in claim)).toEqual([])
  })
})

describe.each(TEMPLATES.map(template => [template.key, template] as const))('%s', (_, template) => {
  test('the query is valid DCQL', () => expect(findDcqlProblem(template.query)).toBeUndefined())

  test('the template is frozen', () => expect(unfrozen(template)).toEqual([]))

  test('title and purpose are in both languages, short enough for a request', () => {
    const texts = [template.title.en, template.title.de, template.purpose.en, template.purpose.de]
    expect(texts.filter(text => text.length < 1 || text.length > 100)).toEqual([])
  })
})

test('the age to prove is the one in the key, and only age templates have one', () => {
  const ages = TEMPLATES.map(({ key, ageOver }) => [key, ageOver])
  expect(ages).toEqual(TEMPLATES.map(({ key }) => [key, ageInKey(key)]))
})

test('only the EU age app has a profile of its own', () => {
  const special = TEMPLATES.filter(({ profile }) => profile !== 'haip').map(({ key, profile }) => [key, profile])
  expect(special).toEqual([['eu_av_age_18', 'eu-av']])
})

test('an age check keeps no claims, and a portrait is kept by nobody', () => {
  expect(TEMPLATES.filter(({ ageOver, retention }) => ageOver !== undefined && retention !== 'outcome')).toEqual([])
  expect(TEMPLATES.filter(({ query, retention }) => asksForPortrait(query) && retention === 'claims')).toEqual([])
})

describe('withPurpose', () => {
  const pid = { id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] } } as const
  const mdl = { id: 'mdl', format: 'mso_mdoc', meta: { doctype_value: 'org.iso.18013.5.1.mDL' } } as const

  test('withPurpose returns the same query without a purpose', () => {
    const query: DcqlQuery = { credentials: [pid] }
    expect(withPurpose(query, undefined)).toBe(query)
  })

  test('withPurpose writes the purpose into every set, over an existing one', () => {
    const sets = [{ options: [['pid']] }, { options: [['mdl']], required: false, purpose: 'Old' }]
    expect(withPurpose({ credentials: [pid, mdl], credential_sets: sets }, 'To rent a car')).toEqual({
      credentials: [pid, mdl],
      credential_sets: [
        { options: [['pid']], purpose: 'To rent a car' },
        { options: [['mdl']], required: false, purpose: 'To rent a car' },
      ],
    })
  })

  test('withPurpose gives a query without sets one set of all its credentials', () => {
    expect(withPurpose({ credentials: [pid, mdl] }, 'To rent a car')).toEqual({
      credentials: [pid, mdl],
      credential_sets: [{ options: [['pid', 'mdl']], purpose: 'To rent a car' }],
    })
  })

  test('withPurpose does not change its argument, and returns valid DCQL', () => {
    const query: DcqlQuery = { credentials: [pid, mdl], credential_sets: [{ options: [['pid'], ['mdl']] }] }
    const before = structuredClone(query)
    expect(findDcqlProblem(withPurpose(query, 'x'.repeat(300)))).toBeUndefined()
    expect(query).toEqual(before)
  })

  test('withPurpose takes a frozen built-in', () => {
    const { query } = builtin('age_over_18')
    expect(withPurpose(query, 'To sell you wine').credential_sets?.[0]?.purpose).toBe('To sell you wine')
    expect(query.credential_sets?.[0]).not.toHaveProperty('purpose')
  })
})

function builtin(key: string): Template {
  const template = BUILTIN_TEMPLATES.get(key)
  if (!template) throw new Error(`no built-in template ${key}`)
  return template
}

function unfrozen(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return [...(Object.isFrozen(value) ? [] : [value]), ...Object.values(value).flatMap(unfrozen)]
}

function ageInKey(key: string): number | undefined {
  const digits = /age_(?:over_)?(\d+)/.exec(key)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

function asksForPortrait({ credentials }: DcqlQuery): boolean {
  return credentials.some(({ claims = [] }) => claims.some(({ path }) => path.includes('portrait') || path.includes('picture')))
}
