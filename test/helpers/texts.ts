// Texts for properties. fast-check's own unit 'binary', which fc.webPath and fc.webUrl use too, keeps a map of all 1.1 million
// characters: 170 MB for the rest of the process, which every collection of garbage walks through.
import fc from 'fast-check'

const SURROGATES_FROM = 0xd800
const SURROGATES = 0x800

/** Any character but half of a pair. */
const character = fc.nat(0x10ffff - SURROGATES).map(
  n => String.fromCodePoint(n < SURROGATES_FROM ? n : n + SURROGATES),
  text => {
    const point = typeof text === 'string' && [...text].length === 1 ? text.codePointAt(0)! : Number.NaN
    return point < SURROGATES_FROM ? point : point - SURROGATES
  },
)

/** Of any characters; a length counts code points. */
export const anyText = (range: Omit<fc.StringConstraints, 'unit'> = {}): fc.Arbitrary<string> =>
  fc.string({ ...range, unit: character })

const URL_CHARACTERS = "ABCXYZabcxyz0189-._~!$&'()*+,;=:@"
const urlText = fc.string({
  unit: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...URL_CHARACTERS) }, character.map(encodeURIComponent)),
})

/** The path of a URL: empty, or segments that each begin with a slash. */
export const webPath = (): fc.Arbitrary<string> =>
  fc.array(urlText, { maxLength: 4 }).map(segments => segments.map(segment => `/${segment}`).join(''))

/** A URL with a port, a query and a fragment at times. */
export const webUrl = (): fc.Arbitrary<string> =>
  fc
    .record({
      scheme: fc.constantFrom('http://', 'https://'),
      host: fc.domain(),
      port: fc.option(
        fc.nat(65_535).map(port => `:${port}`),
        { nil: '' },
      ),
      path: webPath(),
      query: fc.option(
        urlText.map(text => `?${text}`),
        { nil: '' },
      ),
      fragment: fc.option(
        urlText.map(text => `#${text}`),
        { nil: '' },
      ),
    })
    .map(({ scheme, host, port, path, query, fragment }) => [scheme, host, port, path, query, fragment].join(''))
