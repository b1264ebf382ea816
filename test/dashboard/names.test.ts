// Names that people type: nothing invisible in them, and no two shops of one installation that read the same.
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { changeTenant, createTenant, readTenants } from '../../src/tenants/settings.ts'
import { cleanUp, createVerification, type ErrorBody, outcome, startWithTenant, temporaryDir } from '../helpers/app.ts'
import { vidimus } from '../helpers/command.ts'
import { setUpOwner } from '../helpers/dashboard.ts'
import { QUERY } from '../helpers/dashboard-routes.ts'

afterAll(cleanUp)

const { app, id, key } = await startWithTenant(undefined, { name: 'Corner shop' })
const boss = await setUpOwner(app)

/** U+200B to U+200F, U+2060 to U+2064, U+FEFF. */
const INVISIBLE = [...range(0x200b, 0x200f), ...range(0x2060, 0x2064), 0xfeff].map(code => String.fromCodePoint(code))

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}

describe('a character that shows nothing is refused', () => {
  test.each(INVISIBLE.map(char => [char.codePointAt(0)!.toString(16), char]))(
    'U+%s in every text that people type',
    async (_, char) => {
      const text = `Bak${char}ery`
      const at = `/tenants/${id}`
      const answers = {
        'a new shop': await boss.post('/tenants', { name: text }),
        'the name of a shop': await boss.put(at, { name: text }),
        'a till': await boss.post(`${at}/devices?environment=test`, { name: text, allowed_templates: ['age_over_18'] }),
        'a key': await boss.post(`${at}/keys`, {
          environment: 'test',
          scopes: ['verifications:read'],
          expires_days: null,
          label: text,
        }),
        'the title of a template': await boss.put(`${at}/templates/own`, { title: text, query: QUERY }),
        'the purpose of a template': await boss.put(`${at}/templates/own`, { title: 'Own', query: QUERY, purpose: text }),
        'a user': await boss.post('/users', { name: text, tenant: id }),
        'a trust anchor': await boss.post('/trust', { environment: 'test', pem: 'x', label: text }),
        'the purpose of a request': await app.call<ErrorBody>('POST', '/v1/verifications', {
          key,
          body: { template: 'age_over_18', purpose: text },
        }),
        'a device': await app.call<ErrorBody>('POST', '/v1/devices', {
          key,
          body: { name: text, allowed_templates: ['age_over_18'] },
        }),
      }
      for (const [what, answer] of Object.entries(answers)) expect([what, outcome(answer)]).toEqual([what, '400 invalid_request'])
    },
  )

  test('the refusal says what to remove, on the command line too', async () => {
    const { body } = await boss.put(`/tenants/${id}`, { name: 'Bak\u200bery' })
    expect(body.error.message).toBe('name: remove invisible characters, such as spaces without a width')
    const dir = join(temporaryDir(), 'data')
    for (const args of [
      ['tenant', 'create', '--name', 'Bak\u2060ery'],
      ['key', 'create', '--tenant', 'ten_x', '--env', 'test', '--label', 'Bak\ufeffery'],
    ])
      expect((await vidimus(dir, args)).stderr).toContain('remove invisible characters, such as spaces without a width')
  })

  test('what is to be seen stays allowed: letters of all scripts, marks and emoji', async () => {
    for (const purpose of ['Zażółć gęślą jaźń', 'Café', 'חנות היין', '酒屋', '🍷 ab 18'])
      expect((await createVerification(app, key, { purpose })).purpose).toBe(purpose)
  })
})

const SAME = [
  'corner SHOP',
  'Ｃｏｒｎｅｒ shop',
  'Corner  shop',
  'Corner\u00a0shop',
  'Corner shop\u00ad',
  'ᶜorner shop',
  'Corner ſhop',
]

describe('two shops of one installation', () => {
  test.each(SAME)('have different names: %j reads like "Corner shop" and is 409', async name => {
    expect(outcome(await boss.post('/tenants', { name }))).toBe('409 shop_name_taken')
    const other = await app.tenant()
    expect(outcome(await boss.put(`/tenants/${other.id}`, { name }))).toBe('409 shop_name_taken')
  })

  test('may have names that differ, and a shop may spell its own in another way', async () => {
    for (const name of ['Corner shop 2', 'Comer shop', 'Cörner shop'])
      expect((await boss.post('/tenants', { name })).status).toBe(201)
    expect((await boss.put(`/tenants/${id}`, { name: 'CORNER SHOP' })).status).toBe(200)
    expect((await boss.put(`/tenants/${id}`, { name: 'Corner shop' })).status).toBe(200)
  })

  test('get one name once, of twenty that create it at the same time', async () => {
    const create = (i: number) => createTenant(app.deps, { name: i % 2 ? 'Straße' : 'STRASSE' }, 'test')
    const ended = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => create(i)))
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const names = (await readTenants(app.deps.db)).map(({ name }) => name)
    expect(names.filter(name => /^stra(ß|ss)e$/i.test(name))).toHaveLength(1)
  })

  test('get one name once, of two that take it at the same time as a third is created', async () => {
    const [one, other] = [await app.tenant(), await app.tenant()]
    const ended = await Promise.allSettled([
      changeTenant(app.deps, one.id, { name: 'Harbour' }, 'test'),
      changeTenant(app.deps, other.id, { name: 'harbour' }, 'test'),
      createTenant(app.deps, { name: 'HARBOUR' }, 'test'),
    ])
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const names = (await readTenants(app.deps.db)).map(({ name }) => name.toLowerCase())
    expect(names.filter(name => name === 'harbour')).toHaveLength(1)
  })

  test('the command line refuses a name that is taken, and says what to do', async () => {
    const dir = join(temporaryDir(), 'data')
    expect((await vidimus(dir, ['tenant', 'create', '--name', 'Wine bar'])).exitCode).toBe(0)
    const again = await vidimus(dir, ['tenant', 'create', '--name', 'wine BAR'])
    expect([again.exitCode, again.stdout]).toEqual([1, ''])
    expect(again.stderr).toContain('has this name, or one that looks the same; choose another')
  })
})
