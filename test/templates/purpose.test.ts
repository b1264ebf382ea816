import { expect, test } from 'bun:test'
import { mergedName } from '../../src/openid4vp/merge-claims.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { agesNamed, followTicks, isAutomatic, strayAges } from '../../src/templates/purpose.ts'
import { purposeOfAge } from '../../src/words/templates.ts'

test.each([
  ['To check that you are 18 or over', [18]],
  ['Um zu prüfen, ob Sie mindestens 16 Jahre alt sind', [16]],
  ['Nur ab 18', [18]],
  ['Adults only (18+)', [18]],
  ['For guests aged 21.', [21]],
  ['Ein Geschenk für 16-jährige Gäste', [16]],
  ['From 16 or over, spirits over 18', [16, 18]],
  ['To sell you 2 bottles of 0.75 l', []],
  ['Order 1016 of 12 March', []],
  ['Bestellung über 40 Euro', []],
  ['', []],
])('ages named in %p are %p', (purpose, ages) => {
  expect(agesNamed(purpose)).toEqual(ages)
})

test('a purpose that nobody typed stays what it is for every built-in template as it stands', () => {
  for (const { query, purpose } of BUILTIN_TEMPLATES.values()) {
    const claims = query.credentials.flatMap(({ format, claims = [] }) => claims.map(({ path }) => mergedName(format, path)))
    for (const language of ['en', 'de'] as const)
      expect(followTicks(purpose[language], [...new Set(claims)], language)).toBe(purpose[language])
  }
})

test('a purpose that nobody typed names the oldest age that is ticked, and none when none is', () => {
  const { en, de } = purposeOfAge(18)
  expect(followTicks(en, ['age_over_16'], 'en')).toBe('To check that you are 16 or over')
  expect(followTicks(de, ['age_over_21', 'age_over_16'], 'de')).toBe('Um zu prüfen, ob Sie mindestens 21 Jahre alt sind')
  expect(followTicks(en, ['nationalities'], 'en')).toBe('')
  expect(followTicks(en, [], 'en')).toBe('')
  expect(followTicks(en, ['birthdate'], 'en')).toBe(en)
  const withPhoto = 'To check that you are 18 or over and that the document is yours'
  expect(followTicks(withPhoto, ['age_over_16', 'picture'], 'en')).toBe(withPhoto.replace('18', '16'))
  expect(followTicks('To check where you live', ['address', 'age_over_18'], 'en')).toBe('To check where you live')
  expect(followTicks('To check where you live', ['age_over_18'], 'en')).toBe(en)
})

test('only a purpose of a built-in template, with any age, counts as typed by nobody', () => {
  const builtin = [...BUILTIN_TEMPLATES.values()].flatMap(({ purpose }) => Object.values(purpose))
  const areAutomatic = (purposes: string[]) => purposes.map(purpose => isAutomatic(purpose, builtin))
  const withPhoto = BUILTIN_TEMPLATES.get('age_over_18_photo')!.purpose
  expect(agesNamed(withPhoto.en)).toEqual([18])
  expect(areAutomatic([purposeOfAge(16).en, purposeOfAge(99).de, withPhoto.en.replace('18', '16'), withPhoto.de])).toEqual([
    ...Array(4).fill(true),
  ])
  expect(areAutomatic(['', 'Nur ab 18', 'To check that you are 18 or over, please'])).toEqual([false, false, false])
})

test('an age that is named and not asked for is found, unless a date of birth may show it', () => {
  const asks = (claims: string[], ages: number[] = []) => strayAges('For guests of 18 years', { claims, ages })
  expect(asks(['age_over_16'])).toEqual({ named: [18], asked: [16] })
  expect(asks(['age_over_18', 'age_over_16'])).toEqual({ named: [], asked: [16, 18] })
  expect(asks(['birthdate'])).toEqual({ named: [], asked: [] })
  expect(asks(['birthdate'], [18])).toEqual({ named: [], asked: [18] })
  expect(asks(['birthdate'], [21])).toEqual({ named: [18], asked: [21] })
  expect(asks(['nationalities'])).toEqual({ named: [18], asked: [] })
})
