// The dictionaries: unused words, and texts that exist in one language only.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Attention } from '../../src/dashboard/overview/schema.ts'
import { ERRORS } from '../../src/http/errors.ts'
import { personOf, pidClaims } from '../../src/sandbox/documents.ts'
import { PERSONAS } from '../../src/sandbox/personas.ts'
import { claimsOf, DOCUMENTS } from '../../src/templates/catalogue.ts'
import { dashboard } from '../../src/web/dashboard/en.ts'
import * as overviewDe from '../../src/web/dashboard/overview/de.ts'
import * as overviewEn from '../../src/web/dashboard/overview/en.ts'
import { editor } from '../../src/web/dashboard/templates/en.ts'
import { germanProblem } from '../../src/web/dashboard/templates/query-problems.ts'
import * as hostedDe from '../../src/web/hosted/de.ts'
import * as hostedEn from '../../src/web/hosted/en.ts'
import { es } from '../../src/web/hosted/languages/es.ts'
import { fr } from '../../src/web/hosted/languages/fr.ts'
import { it } from '../../src/web/hosted/languages/it.ts'
import { nl } from '../../src/web/hosted/languages/nl.ts'
import { pl } from '../../src/web/hosted/languages/pl.ts'
import { findings } from '../../src/web/shared/findings/en.ts'
import { NAMES_OF } from '../../src/web/shared/outcome-code.ts'
import * as sharedDe from '../../src/web/shared/words/de.ts'
import * as sharedEn from '../../src/web/shared/words/en.ts'
import { WORDS } from '../../src/web/verify/words.ts'

const WEB = join(import.meta.dir, '../../src/web')

const IS_DICTIONARY = /(?:^|\/)(?:en|de|es|fr|it|nl|pl)\.ts$/
const sources = new Map(
  await Promise.all(
    [...new Bun.Glob('**/*.{ts,tsx}').scanSync(WEB)]
      .filter(file => !IS_DICTIONARY.test(file))
      .map(async file => [file, await Bun.file(join(WEB, file)).text()] as const),
  ),
)

/** The sections of all dictionaries of a language, by their names, which no two dictionaries share. */
async function sectionsOf(language: 'en' | 'de'): Promise<Record<string, unknown>> {
  const sections: Record<string, unknown> = {}
  for (const file of new Bun.Glob(`**/${language}.ts`).scanSync(WEB))
    for (const [name, words] of Object.entries(await import(join(WEB, file)))) {
      expect(sections).not.toHaveProperty(name)
      sections[name] = words
    }
  return sections
}

const en = await sectionsOf('en')
const de = await sectionsOf('de')

/** Looked up by a code. */
const BY_CODE = ['outcomeNames', 'findings']

/** The hooks that return a section, such as `useTillWords()`. */
const ROOTS: Readonly<Record<string, string>> = Object.fromEntries([
  ['useCommon()', 'common'],
  ...[...sources.values()]
    .flatMap(source => [...source.matchAll(/export const (use\w+) = \(\)(?:: \w+)? =>\s+useWords\(\{ en: en\.(\w+),/g)])
    .map(([, hook, section]) => [`${hook}()`, section!])
    .filter(([, section]) => !BY_CODE.includes(section!)),
])

const ENGLISH = new Map(leaves(en, []).map(path => [path.join('.'), partAt(path)]))
const GERMAN = new Map(leaves(de, []).map(path => [path.join('.'), partAt(path, de)]))

/** Where the dictionary has nothing, a page shows the service's own text, which is English. */
const ONLY_GERMAN = /^dashboard\.problems\.password_refused$|^sandbox\.unreadable\.|^doctor\./

/** The same word in both languages. */
const SAME = new Set([
  ...['Region', 'Dashboard', 'Webhooks', 'Test', 'Live', 'Name', 'Status', 'Filter', 'ISO mdoc', 'SD-JWT', 'Wallet', 'Wallets'],
  ...['URL', 'Problem', 'Installation', 'Apps', 'Browser', 'Version', 'Organisation', 'Sandbox', 'Passkey', 'Passkeys', 'Code'],
  ...['Logo', ''],
  // Names of programs.
  ...['Keycloak', 'Nextcloud', 'WordPress', 'Discourse', 'oauth2-proxy', 'Apache (mod_auth_openidc)'],
  // Only joins what the service says.
  String(editor.problem),
  String(findings.archive_good),
  String(findings.lists_troubled),
])

/** Of a page that has one for all. */
const ADDRESS = /^https:\/\/\S+$/

test('every text of the pages exists in English and in German', () => {
  expect([...ENGLISH.keys()].filter(path => !GERMAN.has(path))).toEqual([])
  expect([...GERMAN.keys()].filter(path => !ENGLISH.has(path) && !ONLY_GERMAN.test(path))).toEqual([])
  const same = [...ENGLISH].filter(([path, text]) => String(text) === String(GERMAN.get(path)))
  expect(same.filter(([, text]) => !SAME.has(String(text)) && !ADDRESS.test(String(text)))).toEqual([])
})

test('every claim of the documents that the builder offers and the sandbox has is named in both languages', () => {
  const today = '2026-01-01'
  const held = pidClaims({ person: personOf('adult', today), today, issueDate: today, expiryDate: today })
  const nested = Object.entries({ ...held, age_equal_or_over: {} }).flatMap(([name, value]) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.keys(value).map(inner => `${name}.${inner}`)
      : [name],
  )
  const claims = new Set([...nested, ...DOCUMENTS.flatMap(claimsOf)])
  expect([...claims].filter(claim => !(claim in sharedEn.claims && claim in sharedDe.claims))).toEqual([])
})

/** Codes whose message has the details, codes that the pages handle, and codes of the API alone. */
const SPOKEN_BY_SERVICE = new Set([
  ...['invalid_request', 'list_refused', 'password_refused', 'payload_too_large', 'uri_too_long', 'invalid_redirect_uri'],
  ...['not_logged_in', 'reauthentication_required'],
  ...['invalid_idempotency_key', 'idempotency_key_in_flight', 'idempotency_key_reused', 'invalid_api_key', 'api_key_expired'],
  ...['metrics_token_required', 'origin_not_allowed', 'insufficient_scope', 'invalid_pairing_code', 'invalid_refresh_token'],
  ...['invalid_wallet_response', 'invalid_response_code', 'method_not_allowed'],
  ...['invalid_engagement', 'engagement_not_supported', 'not_askable_in_person', 'login_not_found'],
])

test('every attention and every error that the dashboard can meet has words of its own', () => {
  const codes = Attention.anyOf.map(each => each.properties.code.const)
  expect(Object.keys(overviewEn.overview.attentions).sort()).toEqual(codes.sort())
  const wordless = Object.keys(ERRORS).filter(code => !(code in dashboard.problems) && !SPOKEN_BY_SERVICE.has(code))
  expect(wordless).toEqual([])
})

/** Addresses, commands, certificates and names. */
const NEUTRAL = /: (https:\/\/[\w./]*|openid4vp:\/\/…|-----BEGIN CERTIFICATE-----|vidimus [\w .-]+|Vidimus|SANDBOX)$/

test('no page has a text outside of the dictionary', async () => {
  const found: string[] = []
  for (const file of new Bun.Glob('**/*.tsx').scanSync(WEB)) {
    const source = await Bun.file(join(WEB, file)).text()
    const texts = [...source.matchAll(/>\s*([^<>{}=;()]*\p{L}{3,}[^<>{}=;()]*)\s*<\//gu)].map(([, text]) => text?.trim())
    const attributes = [...source.matchAll(/\b(?:label|title|placeholder|hint|alt|aria-label|verb)="([^"]*\p{L}{3,}[^"]*)"/gu)]
    found.push(...[...texts, ...attributes.map(([, text]) => text)].map(text => `${file}: ${text}`))
  }
  expect(found.length).toBeGreaterThan(3)
  expect(found.filter(each => !NEUTRAL.test(each))).toEqual([])
})

test('every word of the dictionary is used by a page', async () => {
  const used: string[][] = []
  for (const source of sources.values()) used.push(...pathsIn(source))
  const words = Object.values(ROOTS).flatMap(root => leaves(en[root], [root]))
  expect(words.length).toBeGreaterThan(900)
  expect(words.filter(word => !used.some(path => leadsTo(path, word))).map(word => word.join('.'))).toEqual([])
})

test('every sentence of the dictionary is in both languages', () => {
  const german = new Map(leaves(de, []).map(path => [path.join('.'), valueAt(de, path)]))
  const english = leaves(en, []).map(path => [path.join('.'), valueAt(en, path)] as const)
  // Reasons of the service are English sentences already: German has more words.
  expect(english.filter(([path]) => !german.has(path))).toEqual([])
  const untranslated = english.filter(
    ([path, text]) => typeof text === 'string' && / \w+ /.test(text) && german.get(path) === text,
  )
  expect(untranslated).toEqual([])
})

/** The files that find problems of a query and its rules, for the API and the template builder. */
const PROBLEMS = ['openid4vp/dcql/dcql.ts', 'openid4vp/dcql/schema.ts', 'templates/rules.ts']

test('every problem of a query or its rules is in German in the template builder', async () => {
  const sources = await Promise.all(PROBLEMS.map(file => Bun.file(join(WEB, '..', file)).text()))
  const code = sources.join('\n').replaceAll(/^\s*(?:\/\/|\/?\*|description:).*$/gm, '')
  const sentences = [...code.matchAll(/(['`])([A-Z`].* .*\.(?:\$\{\w+\})?)\1/g)].map(([, , text]) => text!)
  expect(sentences.length).toBeGreaterThan(30)
  const filled = (text: string, value: string) => text.replaceAll(/\$\{[^}]*\}/g, value).replaceAll('\\`', '`')
  const isGerman = (text: string) => germanProblem(text) !== text
  expect(sentences.filter(text => !['9', ''].some(value => isGerman(filled(text, value))))).toEqual([])
  expect(germanProblem('This must be an array of 1 to 20 credential queries, and it has 0.')).toBe(
    'Dies muss eine Liste mit 1 bis 20 Einträgen sein, und sie hat 0.',
  )
})

/** Names, and words that two languages share. */
const ALSO_ENGLISH = /^(Test|Région|Region|Photo|Foto|Wallet|Postcode)$/

test.each(Object.entries({ es, fr, it, nl, pl }))('the shopper meets no English word in %s', (language, words) => {
  const { outcomes, claims, documents, hosted, common } = words
  expect(Object.keys(claims)).toEqual(Object.keys(sharedEn.claims))
  expect(Object.keys(documents)).toEqual(Object.keys(sharedEn.documents))
  const pairs = [
    [outcomes, sharedEn.outcomeNames],
    [claims, sharedEn.claims],
    [documents, sharedEn.documents],
    [hosted, hostedEn.hosted],
    [common, sharedEn.common],
    [WORDS[language as keyof typeof WORDS], WORDS.en],
  ] as const
  const english = pairs.flatMap(([own, english]) =>
    leaves(own, [])
      .filter(path => String(valueAt(own, path)) === String(valueAt(english, path)))
      .map(path => String(valueAt(own, path))),
  )
  expect(english.filter(text => !ALSO_ENGLISH.test(text))).toEqual([])
  expect(WORDS[language as keyof typeof WORDS].completed).toBe(hosted.thanks(outcomes.completed))
})

test('Polish counts as Polish does', () => {
  const forms = [1, 2, 5, 12, 22].map(count => pl.hosted.moreWays(count).split('.', 1)[0]!.split(' ').at(-1))
  expect(forms).toEqual(['kombinacja', 'kombinacje', 'kombinacji', 'kombinacji', 'kombinacje'])
})

/** Outcomes have the words of `outcomeNames`, and these mean the same or another one. */
const OTHER_WORDS = {
  en: /said? no|says no|a no was|rejected|turned down|(proof|answer) (was not|could not be) accepted|request was withdrawn|time (is|was) up|ran out of time|^done\./i,
  de: /zurückgewiesen|verneint|nein gesagt|sagte? nein|lehnt (immer )?ab|haben abgelehnt|prüfung(en)? (wird |wurde |war |anderswo )*beende|anfrage wurde zurückgezogen|(nachweis|antwort) .*nicht anerkannt|zeit ist um|^fertig\./i,
}

/** Clocks of a session that still runs. */
const IS_CLOCK = /^till\.overdue$/

test('no page of either language says an outcome in another word than the one table has', () => {
  const found = Object.entries({ en: ENGLISH, de: GERMAN }).flatMap(([language, dictionary]) =>
    [...dictionary].filter(([path, text]) => OTHER_WORDS[language as 'en' | 'de'].test(String(text)) && !IS_CLOCK.test(path)),
  )
  expect(found).toEqual([])
  const personas = Object.values(PERSONAS).flatMap(({ explanation }) => Object.entries(explanation))
  expect(personas.filter(([language, text]) => OTHER_WORDS[language as 'en' | 'de'].test(text))).toEqual([])
})

/** Words that customers of a shop read, of both languages. */
const OF_SHOPS = [
  'woocommerce/includes/checkout.php',
  'woocommerce/languages/vidimus-for-woocommerce-de_DE.po',
  'shopify/server.mjs',
]

test('no page inside of a shop says an outcome in another word than the one table has', async () => {
  const sources = await Promise.all(OF_SHOPS.map(file => Bun.file(join(WEB, '../sdk', file)).text()))
  const quoted = sources.flatMap(source =>
    [...source.matchAll(/'([^'\n]+)'|"([^"\n]+)"/g)].map(([, single, double]) => single ?? double!),
  )
  expect(quoted).toContain('Es wurde nichts bestätigt.')
  const texts = [...quoted, ...Object.values(WORDS).flatMap(words => Object.values(words))]
  expect(texts.filter(text => OTHER_WORDS.en.test(text) || OTHER_WORDS.de.test(text))).toEqual([])
  expect([WORDS.en.completed, WORDS.de.completed]).toEqual([
    hostedEn.hosted.thanks(sharedEn.outcomeNames.completed),
    hostedDe.hosted.thanks(sharedDe.outcomeNames.completed),
  ])
})

test.each([
  ['English', overviewEn.overview, sharedEn.outcomeNames],
  ['German', overviewDe.overview, sharedDe.outcomeNames],
])(
  'the note beneath the numbers names every outcome that counts under the name of another in %s',
  (_, overview, outcomeNames) => {
    const note = overview.counted(outcomeNames)
    const others = NAMES_OF.failed.filter(name => name !== 'failed' && name !== 'wallet_declined')
    expect(others.filter(name => !note.includes(`${outcomeNames[name]}`))).toEqual([])
  },
)

/** Their own statuses: keys, devices, deliveries, lists, dates of certificates. */
const OF_OTHER_THINGS = /^(keys|devices|webhooks|trust|people|health|goLive|audit|security|overview\.attentions)\b/

test('the name of an outcome stands in the table of outcomes alone', () => {
  for (const [dictionary, names] of [
    [ENGLISH, sharedEn.outcomeNames],
    [GERMAN, sharedDe.outcomeNames],
  ] as const) {
    const words = new Set([...Object.values(names), 'Geprüft', 'Beendet', 'Withdrawn', 'Accepted', 'Anerkannt'])
    const copies = [...dictionary].filter(
      ([path, text]) => !/^outcomeNames\.|^verification\.checked$/.test(path) && words.has(String(text).replace(/\.$/, '')),
    )
    expect(copies.filter(([path]) => !OF_OTHER_THINGS.test(path))).toEqual([])
  }
})

test('every outcome that a status can have is in the filter and has a name', () => {
  const named = Object.values(NAMES_OF).flat()
  expect(named.toSorted()).toEqual((Object.keys(sharedEn.outcomeNames) as typeof named).toSorted())
})

const valueAt = (words: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], words)

function leaves(value: unknown, path: string[]): string[][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...path, name]))
    : [path]
}

/** `*` is a name known only at run time. A part that is passed on counts as used whole. */
const leadsTo = (path: readonly string[], word: readonly string[]): boolean =>
  path.every((name, i) => i >= word.length || name === '*' || name === word[i])

const STEPS = String.raw`((?:\??\.\w+|\[[^\]]+\])*)`

/** All paths in the dictionary that a file uses, through its local names for parts of it. */
function pathsIn(text: string): string[][] {
  const paths: string[][] = []
  const parts: [name: string, path: string[]][] = []
  for (const [call, root] of Object.entries(ROOTS)) {
    const hook = call.replace('()', String.raw`\(\)`)
    for (const [, name, steps] of text.matchAll(new RegExp(`const (\\w+) = ${hook}${STEPS}`, 'g')))
      parts.push([name!, [root, ...stepsOf(steps!)]])
    for (const [, names, steps] of text.matchAll(new RegExp(`const \\{ ([^}]+) \\} = ${hook}${STEPS}`, 'g')))
      for (const name of names!.split(', ')) parts.push([name, [root, ...stepsOf(steps!), name]])
    for (const [, steps] of text.matchAll(new RegExp(`(?<!const [^=]+ = )${hook}${STEPS}`, 'g')))
      paths.push([root, ...stepsOf(steps!)])
    for (const [, name] of text.matchAll(new RegExp(`(\\w+): ${call.slice(3, -2)}\\b`, 'g'))) parts.push([name!, [root]])
  }
  for (const [name, path] of parts) {
    const uses = [...text.matchAll(new RegExp(`(?<![.\\w])${name}${STEPS}(?!\\w)`, 'g'))].map(([, steps]) => stepsOf(steps!))
    // The first is the declaration.
    const isWord = uses.length > 1 && typeof partAt(path) !== 'object'
    for (const steps of uses) if (steps.length > 0 || isWord) paths.push([...path, ...steps])
  }
  return paths.filter(path => path.length > 1)
}

const stepsOf = (steps: string): string[] =>
  [...steps.replaceAll(/\[[^\]]+\]/g, '.*').matchAll(/\.(\w+|\*)/g)].map(([, name]) => name!)

function partAt(path: readonly string[], dictionary: unknown = en): unknown {
  return path.reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], dictionary)
}
