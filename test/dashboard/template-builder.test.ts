// The builder of templates, over HTTP: what it opens, it saves again.
import { expect, test } from 'bun:test'
import type { BuiltQuery, Template, TemplateCheck } from '../../src/dashboard/templates/schema.ts'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { ALIASES } from '../../src/templates/forms.ts'
import { startOwned } from '../helpers/dashboard.ts'

test('the builder opens each built-in template in each of its forms, and saves what it opened', async () => {
  const { boss, id } = await startOwned()
  const walked = [...BUILTIN_TEMPLATES.values(), ...ALIASES.values()]
  expect(walked).toHaveLength(14 + 22)
  for (const { key, query } of walked) {
    const { body: check } = await boss.post<TemplateCheck>(`/tenants/${id}/template-check`, { query })
    expect([key, check.problem, check.choice?.steps.length]).toEqual([key, null, expect.any(Number)])
    const { body: built } = await boss.post<BuiltQuery>(`/tenants/${id}/template-build`, check.choice)
    expect([key, built.left_out]).toEqual([key, []])
    const path = `/tenants/${id}/templates/own_${key}`
    const { body: saved } = await boss.put<Template>(path, { title: key, query: built.query })
    expect([key, parts(saved.query as unknown as DcqlQuery)]).toEqual([key, parts(query)])
  }
})

/** In the order of preference; an id is the author's own name. */
const parts = ({ credentials, credential_sets: sets }: DcqlQuery) =>
  sets?.flatMap(({ options }) =>
    options.map(ids => ids.map(id => ({ ...credentials.find(credential => credential.id === id), id: undefined }))),
  )

test('a document that a later step asks for something else is asked for both', async () => {
  const { boss, id } = await startOwned()
  const step = { documents: ['pid'], format: 'dc+sd-jwt' }
  const steps = [
    { ...step, claims: ['age_over_18'] },
    { ...step, claims: ['birthdate'] },
  ]
  const { body } = await boss.post<BuiltQuery>(`/tenants/${id}/template-build`, { steps })
  const { credentials } = body.query as unknown as DcqlQuery
  expect(credentials.map(({ id: name, claims }) => [name, claims?.[0]?.path])).toEqual([
    ['pid_sd', ['age_equal_or_over', '18']],
    ['pid_sd_2', ['birthdate']],
  ])
})

test.each([
  ['no step', []],
  ['eleven steps', Array(11).fill({ documents: ['pid'], claims: ['birthdate'], format: null })],
  ['a format of its own', [{ documents: ['pid'], claims: ['birthdate'], format: 'jwt' }]],
])('a choice of %s is refused', async (_, steps) => {
  const { boss, id } = await startOwned()
  const { status } = await boss.post(`/tenants/${id}/template-build`, { steps })
  expect(status).toBe(400)
})
