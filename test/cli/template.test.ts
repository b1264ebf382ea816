import { beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'

const files = temporaryDir()
const dir = join(temporaryDir(), 'data')
const MEMBER = { id: 'member', format: 'dc+sd-jwt', meta: { vct_values: ['https://club.example/member'] } }

let tenant: string

beforeAll(async () => {
  tenant = (await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Club')).id
})

const rulesFile = join(files, 'rules.json')

const withRules = (rules: string | Uint8Array) => {
  writeFileSync(rulesFile, rules)
  return ['--rules', rulesFile]
}

async function put(query: string | Uint8Array, ...flags: string[]) {
  const file = join(files, 'query.json')
  writeFileSync(file, query)
  const call = ['template', 'put', '--tenant', tenant, '--key', 'membership', '--file', file, ...flags]
  const { exitCode, stderr } = await vidimus(dir, call)
  const { data } = await vidimusJson<{ data: { key: string }[] }>(dir, 'template', 'list', '--tenant', tenant)
  return { exitCode, stderr, isKept: data.some(({ key }) => key === 'membership') }
}

const ACTIVE = JSON.stringify({ credentials: [{ ...MEMBER, claims: [{ path: ['active'] }, { path: ['age_over_18'] }] }] })

const queryWith = (value: string) => `{"credentials":[${JSON.stringify(MEMBER)}],"x":${value}}`

test.each([
  ['nested deeper than 32 levels', queryWith('['.repeat(30_000) + ']'.repeat(30_000)), /nested deeper than 32 levels/],
  ['with half of a surrogate pair', queryWith('"\\ud800"'), /half of a surrogate pair/],
  ['of more than 64 KiB, counted in bytes', queryWith(JSON.stringify('ü'.repeat(40_000))), /larger than 64 KiB/],
  ['that is not UTF-8', Buffer.from(queryWith('"\u00fc"'), 'latin1'), /not valid UTF-8/],
  ['that is no object', '[]', /expected a JSON object/],
])('a template %s is refused, as the API refuses such a body, and not saved', async (_, query, says) => {
  expect(await put(query)).toEqual({ exitCode: 1, stderr: expect.stringMatching(says), isKept: false })
})

test.each(['', '  '])('a template with the title "%s" is a wrong call', async title => {
  expect(await put(queryWith('1'), `--title=${title}`)).toEqual({
    exitCode: 2,
    stderr: expect.stringMatching(/^vidimus: --title: .*; --help shows how to call it\n$/),
    isKept: false,
  })
})

test.each([
  ['are no JSON', '[{', /rules\.json: not valid JSON; give an array of rules/],
  ['are no array', '{"claim":"active","is":true}', /rules\.json: expected a JSON array/],
  ['are nested deeper than 32 levels', '['.repeat(30_000) + ']'.repeat(30_000), /nested deeper than 32 levels/],
  ['are of more than 64 KiB', JSON.stringify(['x'.repeat(70_000)]), /larger than 64 KiB/],
  ['are of another kind', '[{"claim":"active","has":true}]', /rules\.json: \[0\]: A rule is one of /],
  ['name a claim that the query never delivers', '[{"claim":"level","is":true}]', /never delivers "level".*active, age_over_18/],
])('rules that %s are refused, and nothing is saved', async (_, rules, says) => {
  expect(await put(ACTIVE, ...withRules(rules))).toEqual({ exitCode: 1, stderr: expect.stringMatching(says), isKept: false })
})

test.each(['', ' ', 'turned \u202e round', 'x'.repeat(301)])('the purpose "%s" is a wrong call', async purpose => {
  expect(await put(ACTIVE, `--purpose=${purpose}`)).toMatchObject({ exitCode: 2, isKept: false })
})

test('template list shows the effective rules and the purpose, as JSON and as a table', async () => {
  const listed = async () => {
    const { data } = await vidimusJson<{ data: object[] }>(dir, 'template', 'list', '--tenant', tenant)
    return data.find(each => (each as { key: string }).key === 'membership')
  }
  expect((await put(ACTIVE)).exitCode).toBe(0)
  expect(await listed()).toMatchObject({ rules: [{ claim: 'age_over_18', is: true }], purpose: null })
  expect((await put(ACTIVE, ...withRules('[]'), '--purpose', 'To let you in')).exitCode).toBe(0)
  expect(await listed()).toMatchObject({ rules: [], purpose: 'To let you in' })
  const rules = [{ claim: 'active', is: true }]
  expect((await put(ACTIVE, ...withRules(JSON.stringify(rules)), '--purpose', 'To let you in')).exitCode).toBe(0)
  expect(await listed()).toMatchObject({ rules, purpose: 'To let you in' })
  const { stdout } = await vidimus(dir, ['template', 'list', '--tenant', tenant])
  expect(stdout).toMatch(/^membership +membership +own +dc\+sd-jwt +active is true +To let you in$/m)
  expect(stdout).toMatch(
    /^age_over_18 +Age 18 or over +built in +dc\+sd-jwt, mso_mdoc +age_over_18 is true +To check that you are 18 or over$/m,
  )
})
