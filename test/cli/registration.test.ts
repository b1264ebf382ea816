import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import type { Verification } from '../../src/verifications/schema.ts'
import { newRegistrar } from '../helpers/access.ts'
import { call, temporaryDir, testClock } from '../helpers/app.ts'
import { serve, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'

afterAll(stopServing)

const files = temporaryDir()
const file = (name: string) => join(files, name)
const register = await newRegistrar({ clock: testClock(Date.now()) })

const NAMES = [{ format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims: [{ path: ['given_name'] }] }]

type Registration = { id: string; subject: string; templates: string[]; notes: string[] }

test('registration add, list and remove beside a running server: requests carry what is stored', async () => {
  const own = temporaryDir()
  const { url, first } = await serve(own, ['--dev'])
  const infoOf = async (template: string) => {
    const { body } = await call<Verification>(url, 'POST', '/v1/verifications', { key: first.test_key, body: { template } })
    return decodeJwt((await call(url, 'GET', `/wallet/request/${body.id}`)).text).verifier_info
  }
  expect(await infoOf('age_over_18')).toBeUndefined()
  expect((await vidimus(own, ['registration', 'list'])).stdout).toStartWith('No registration certificates are stored.')

  const [age, names] = [
    await register(),
    await register({ purpose: [{ lang: 'en', value: 'To know your name' }], credentials: NAMES }),
  ]
  writeFileSync(file('age.json'), JSON.stringify({ registrationCertificate: age }))
  writeFileSync(file('names.jwt'), `${names}\n`)
  const added = await vidimusJson<Registration>(own, 'registration', 'add', file('age.json'))
  expect(added).toMatchObject({
    subject: 'VATDE-123456789',
    templates: [],
    notes: [expect.stringContaining('names no organisation')],
  })
  const second = await vidimus(own, [
    'registration',
    'add',
    file('names.jwt'),
    '--template',
    'identity_basic',
    '--template',
    'address',
  ])
  expect(second.stdout).toMatch(/^Registration certificate reg_\w+ of VATDE-123456789 \(To know your name\), valid until \d{4}-/)
  expect(second.stderr).toContain('could not be compared')
  expect(await infoOf('age_over_18')).toEqual([{ format: 'registration_cert', data: age }])
  expect(await infoOf('address')).toEqual([{ format: 'registration_cert', data: names }])

  const { stdout } = await vidimus(own, ['registration', 'list'])
  expect(stdout).toMatch(/To check your age +by what it covers +until/)
  expect(stdout).toMatch(/To know your name +identity_basic, address +until/)
  expect(await vidimus(own, ['registration', 'add', file('age.json')])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`is stored already (${added.id})`),
  })
  await vidimusJson(own, 'registration', 'remove', added.id)
  expect(await infoOf('age_over_18')).toEqual([{ format: 'registration_cert', data: names }])
  expect(await vidimus(own, ['registration', 'remove', added.id])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('there is no registration certificate'),
  })

  writeFileSync(file('ended.jwt'), await register({ exp: 1_700_000_000 }))
  writeFileSync(file('other.json'), '{"token":"none"}')
  for (const [args, says] of [
    [['add', file('ended.jwt')], 'it ended at 2023-11-14'],
    [['add', file('other.json')], 'this is no registration certificate: it holds no JWT'],
    [['add', file('none')], 'give the path of a registration certificate'],
    [['add', file('names.jwt'), '--tenant', 'ten_none'], 'there is no tenant ten_none'],
    [['add', file('age.json'), '--template', 'none'], 'there is no template none'],
  ] as const) {
    const refused = await vidimus(own, ['registration', ...args])
    expect([refused.exitCode, refused.stdout, refused.stderr]).toEqual([1, '', expect.stringContaining(says)])
  }
})
