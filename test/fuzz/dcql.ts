// DCQL queries that wallets can be asked with: the deepest input there is.
import fc from 'fast-check'

const NAMES = ['family_name', 'given_name', 'birthdate', 'address', 'nationalities', 'age_over_18', '__proto__']

const mdocClaim = fc.record(
  {
    path: fc.tuple(fc.constantFrom('org.iso.18013.5.1', 'eu.europa.ec.eudi.pid.1'), fc.constantFrom(...NAMES)),
    intent_to_retain: fc.boolean(),
    values: fc.array(fc.oneof(fc.string({ minLength: 1, maxLength: 9 }), fc.nat(99), fc.boolean()), {
      minLength: 1,
      maxLength: 3,
    }),
  },
  { requiredKeys: ['path'] },
)

const sdJwtClaim = fc.record(
  {
    path: fc
      .tuple(
        fc.constantFrom(...NAMES),
        fc.array(fc.oneof(fc.constantFrom(...NAMES), fc.nat(9), fc.constant(null)), { maxLength: 9 }),
      )
      .map(([first, rest]) => [first, ...rest]),
    values: fc.array(fc.oneof(fc.string({ minLength: 1, maxLength: 9 }), fc.nat(99), fc.boolean()), {
      minLength: 1,
      maxLength: 3,
    }),
  },
  { requiredKeys: ['path'] },
)

type Credential = Record<string, unknown> & { claims?: object[] }

const credential = fc
  .oneof(
    fc.record(
      {
        format: fc.constant('mso_mdoc'),
        meta: fc.record({ doctype_value: fc.constantFrom('org.iso.18013.5.1.mDL', 'eu.europa.ec.eudi.pid.1') }),
        claims: distinct(mdocClaim),
        multiple: fc.boolean(),
      },
      { requiredKeys: ['format', 'meta'] },
    ),
    fc.record(
      {
        format: fc.constant('dc+sd-jwt'),
        meta: fc.record({
          vct_values: fc.uniqueArray(fc.constantFrom('urn:eudi:pid:1', 'https://a.example/b'), { minLength: 1 }),
        }),
        claims: distinct(sdJwtClaim),
        require_cryptographic_holder_binding: fc.boolean(),
      },
      { requiredKeys: ['format', 'meta'] },
    ),
  )
  .chain(drawn => fc.boolean().map(hasSets => withIds(drawn as Credential, hasSets)))

function distinct(claim: fc.Arbitrary<{ path: unknown[] }>) {
  return fc.uniqueArray(claim, { selector: ({ path }) => JSON.stringify(path), minLength: 1, maxLength: 4 })
}

const withIds = ({ claims, ...rest }: Credential, hasSets: boolean): Credential => {
  if (!claims) return rest
  const named = claims.map((claim, i) => ({ id: `c${i}`, ...claim }))
  return { ...rest, claims: named, ...(hasSets && { claim_sets: [named.map(({ id }) => id), ['c0']].slice(0, named.length) }) }
}

export const dcqlQuery: fc.Arbitrary<object> = fc
  .tuple(fc.array(credential, { minLength: 1, maxLength: 4 }), fc.boolean(), fc.boolean())
  .map(([drawn, hasSets, required]) => {
    const credentials = drawn.map((each, i) => ({ id: `q${i}`, ...each }))
    const options = [credentials.map(({ id }) => id), ['q0']].slice(0, credentials.length)
    return { credentials, ...(hasSets && { credential_sets: [{ options, required }] }) }
  })
