// The dearest legal requests that one can construct: queries, answers and lists. They are for the soak of that name too.
import { createHash, randomBytes } from 'node:crypto'
import { cborMap, embedded, encodeCbor } from '../../src/sandbox/cbor.ts'
import { coseSign1, x5chain } from '../../src/sandbox/cose.ts'
import { signJwt } from '../../src/sandbox/es256.ts'
import { newAuthority, newSdJwtSigner, type Party } from '../../src/sandbox/issuer/certificates.ts'

const COSE_X5CHAIN = 33
const DOCTYPE = 'org.iso.18013.5.1.mDL'
const NAMESPACE = 'org.iso.18013.5.1'
const NUMBERS = Array.from({ length: 100 }, (_, i) => i)

export type Sent = { method: 'GET' | 'POST'; path: string; body?: string; type?: string; headers?: Record<string, string> }
/** The vp_token of an answer to the query. */
export type DearAnswer = { name: string; query: object; token: () => Promise<object>; signatures: number }

type Claim = { id: string; path: (string | number | null)[]; values?: unknown[] }

const sdJwtQuery = (claims: Claim[], sets = 20) => ({
  credentials: [
    {
      id: 'a',
      format: 'dc+sd-jwt',
      meta: { vct_values: ['urn:x'] },
      claims,
      claim_sets: Array.from({ length: sets }, () => claims.map(({ id }) => id)),
    },
  ],
})

/** Claims on every element of a list: the last element alone fits, and the last claim fits none. */
const valueClaims = (values: number): Claim[] =>
  NUMBERS.map(i => ({
    id: `c${i}`,
    path: ['a', i],
    values: Array.from({ length: values }, (_, v) => (i === 99 ? 7 : v === values - 1 ? 9 : 100 + v)),
  }))

/** More values than a query may have: it is refused. */
export const tooManyValues = sdJwtQuery(valueClaims(100).map(claim => ({ ...claim, values: NUMBERS.concat(100) })))

const ageClaims: Claim[] = NUMBERS.map(i => ({ id: `c${i}`, path: [`age_over_${i + 1}`] }))

/** A query of 63 KB, which is as much as a body may have. */
export const longQuery = {
  credentials: NUMBERS.slice(0, 10).map(i => ({
    id: `q${i}`,
    format: 'dc+sd-jwt',
    meta: { vct_values: ['urn:x'] },
    claims: NUMBERS.slice(0, 48).map(n => ({ path: [`claim_${n}_${'x'.repeat(100)}`] })),
  })),
}

/** Alternatives of a hosted page: ten sets of fifty options. */
export const manyAlternatives = {
  credentials: NUMBERS.slice(0, 20).map(i => ({
    id: `q${i}`,
    format: 'dc+sd-jwt',
    meta: { vct_values: [`urn:x${i}`] },
    claims: NUMBERS.slice(0, 60).map(n => ({ path: [`c${i}_${n}`] })),
  })),
  credential_sets: NUMBERS.slice(0, 10).map(set => ({
    options: NUMBERS.slice(0, 50).map(n =>
      NUMBERS.slice(0, 10)
        .map(k => `q${(set + n * (k + 1) + k * k) % 20}`)
        .filter((id, i, all) => all.indexOf(id) === i),
    ),
  })),
}

export const longMetadata = Object.fromEntries(NUMBERS.slice(0, 50).map(i => [`name-${i}`.padEnd(64, '-'), 'ä'.repeat(500)]))

export const deepJson = `{"template":"age_over_18","metadata":${'['.repeat(30_000)}${']'.repeat(30_000)}}`

let signer: Party | undefined

async function sdJwt(payload: object): Promise<string> {
  const making = {
    publicUrl: 'https://issuer.example',
    now: Date.now(),
    random: (count: number) => new Uint8Array(randomBytes(count)),
  }
  signer ??= await newSdJwtSigner(await newAuthority('Nobody', making), making)
  const header = { alg: 'ES256', typ: 'dc+sd-jwt', x5c: [signer.certificate] }
  return `${await signJwt(signer.key, header, { vct: 'urn:x', iat: Math.floor(Date.now() / 1000), ...payload })}~`
}

/** A document of so many elements, signed by nobody that is trusted. */
async function mdoc(elements: number): Promise<string> {
  await sdJwt({})
  const digests = new Map<number, Uint8Array>()
  const items = Array.from({ length: elements }, (_, digestID) => {
    const item = embedded(
      cborMap({ digestID, random: new Uint8Array(16), elementIdentifier: `e${digestID}`, elementValue: digestID }),
    )
    digests.set(digestID, createHash('sha256').update(encodeCbor(item)).digest())
    return item
  })
  const mso = cborMap({
    version: '1.0',
    digestAlgorithm: 'SHA-256',
    valueDigests: new Map([[NAMESPACE, digests]]),
    docType: DOCTYPE,
  })
  const issuerAuth = await coseSign1({
    key: signer!.key,
    payload: encodeCbor(embedded(mso)),
    unprotectedHeader: new Map([[COSE_X5CHAIN, x5chain([Buffer.from(signer!.certificate, 'base64')])]]),
  })
  const issuerSigned = cborMap({ nameSpaces: new Map([[NAMESPACE, items]]), issuerAuth })
  const document = cborMap({ docType: DOCTYPE, issuerSigned })
  return Buffer.from(encodeCbor(cborMap({ version: '1.0', documents: [document], status: 0 }))).toString('base64url')
}

const mdocQuery = {
  credentials: NUMBERS.slice(0, 20).map(i => ({
    id: `q${i}`,
    format: 'mso_mdoc',
    meta: { doctype_value: DOCTYPE },
    claims: NUMBERS.slice(0, 60).map(n => ({ path: [NAMESPACE, `e${n}`] })),
  })),
}

const zeros = (count: number) => async () => ({ a: [await sdJwt({ a: [...new Array(count).fill(0), 9] })] })

export const dearAnswers: DearAnswer[] = [
  { name: '10,000 values x 20,000 elements', query: sdJwtQuery(valueClaims(100), 5), token: zeros(20_000), signatures: 1 },
  { name: '5,000 values x 90,000 elements', query: sdJwtQuery(valueClaims(50)), token: zeros(90_000), signatures: 1 },
  {
    name: 'any element x 9,000',
    query: sdJwtQuery(NUMBERS.slice(0, 90).map(i => ({ id: `c${i}`, path: ['a', null, i, null], values: [i + 1] }))),
    token: async () => ({ a: [await sdJwt({ a: new Array(20).fill(new Array(90).fill(new Array(5).fill(0))) })] }),
    signatures: 1,
  },
  {
    name: '100 ages x 20,000 names',
    query: sdJwtQuery(ageClaims),
    token: async () => ({
      a: [await sdJwt(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`age_over_${i + 200}`, true])))],
    }),
    signatures: 1,
  },
  {
    name: '20 documents x 300 elements',
    query: mdocQuery,
    token: async () => {
      const one = await mdoc(300)
      return Object.fromEntries(mdocQuery.credentials.map(({ id }) => [id, [one]]))
    },
    signatures: 20,
  },
  {
    name: '1 document x 6,000 elements',
    query: { credentials: mdocQuery.credentials.slice(0, 1) },
    token: async () => ({ q0: [await mdoc(6000)] }),
    signatures: 1,
  },
  {
    name: 'a form of 1 MiB, deep',
    query: sdJwtQuery(ageClaims),
    token: async () => JSON.parse(`{"a":${'['.repeat(30)}"${'x'.repeat(1_000_000)}"${']'.repeat(30)}}`),
    signatures: 0,
  },
]
