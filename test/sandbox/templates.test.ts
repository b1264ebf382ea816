// Each built-in template, answered by the wallet, and judged by the `dcql` library on the data that the other verifiers read.
import { describe, expect, test } from 'bun:test'
import { DcqlPresentationResult, DcqlQuery } from 'dcql'
import { PERSONAS } from '../../src/sandbox/personas.ts'
import type { VpToken } from '../../src/sandbox/wallet/wallet.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { verifyMdoc, verifySdJwt } from './foreign.ts'
import { holderOf, newSession, presentTo, type SessionOf } from './world.ts'

describe.each(['adult', 'minor'] as const)('%s', persona => {
  test.each([...BUILTIN_TEMPLATES.values()])('the answer to $key satisfies the query', async ({ query }) => {
    const session = await newSession({ query })
    const { token } = await presentTo(session, await holderOf(persona))
    expect(await isSatisfied(query, token, session)).toBe(true)
  })
})

describe.each(['dc+sd-jwt', 'mso_mdoc'] as const)('a wallet with documents of the format %s only', format => {
  const templates = [...BUILTIN_TEMPLATES.values()].filter(({ query }) => query.credentials.some(one => one.format === format))
  test.each(templates)('the answer to $key satisfies the query', async ({ query }) => {
    const session = await newSession({ query })
    const { token } = await presentTo(session, await holderOf('adult'), { accept: credential => credential.format === format })
    expect(await isSatisfied(query, token, session)).toBe(true)
  })
})

test('an age query is answered by the proof of age, which contains the least data', async () => {
  const session = await newSession({ query: BUILTIN_TEMPLATES.get('age_over_18')!.query })
  expect(Object.keys((await presentTo(session, await holderOf('adult'))).token)).toEqual(['av'])
})

test('all personas have the same documents', async () => {
  const types = async (persona: keyof typeof PERSONAS) => (await holderOf(persona)).credentials.map(({ type }) => type)
  for (const persona of Object.keys(PERSONAS)) {
    expect(await types(persona as keyof typeof PERSONAS)).toEqual(await types('adult'))
  }
})

async function isSatisfied(query: object, token: VpToken, session: SessionOf): Promise<boolean> {
  const dcqlQuery = DcqlQuery.parse(query as DcqlQuery.Input)
  DcqlQuery.validate(dcqlQuery)
  const read: Record<string, One[]> = {}
  for (const [id, [text]] of Object.entries(token)) read[id] = [await readBack(text!, session)]
  return DcqlPresentationResult.fromDcqlPresentation(read, { dcqlQuery }).can_be_satisfied
}

type Presented = Parameters<typeof DcqlPresentationResult.fromDcqlPresentation>[0][string]
type One = Extract<Presented, unknown[]>[number]

async function readBack(text: string, session: SessionOf): Promise<One> {
  if (text.includes('~')) {
    const { vct, ...claims } = await verifySdJwt(text, session)
    return { credential_format: 'dc+sd-jwt', vct, claims, cryptographic_holder_binding: true } as One
  }
  const { docType, issuerSigned } = await verifyMdoc(text, session)
  const names = [...issuerSigned.issuerNamespaces!.issuerNamespaces.keys()]
  const namespaces = Object.fromEntries(names.map(name => [name, issuerSigned.getPrettyClaims(name)!]))
  return { credential_format: 'mso_mdoc', doctype: docType, namespaces, cryptographic_holder_binding: true }
}
