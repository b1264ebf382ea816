import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Device, TokenPair } from '../../src/devices/schema.ts'
import { call, temporaryDir } from '../helpers/app.ts'
import { type Served, serve, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { editRows } from '../helpers/database.ts'
import { outcome } from '../helpers/devices.ts'

afterAll(stopServing)

type Registered = { device: Device & { environment: string }; pairing_code: string; pairing_url: string }

let dir: string
let tenant: string
let server: Served

beforeAll(async () => {
  dir = join(temporaryDir(), 'data')
  server = await serve(dir)
  tenant = (await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Shop')).id
})

const TILL = ['--env', 'test', '--name', 'Till 1', '--templates', 'age_over_18']

const register = (...flags: string[]) => vidimusJson<Registered>(dir, 'device', 'register', '--tenant', tenant, ...TILL, ...flags)

const post = <Body>(path: string, body: object) => call<Body>(server.url, 'POST', path, { body })

describe('device register', () => {
  test('prints the device, its code and the link of the code', async () => {
    const made = await vidimusJson<Registered>(
      dir,
      ...['device', 'register', '--tenant', tenant, '--env', 'live', '--name', 'Till 2'],
      ...['--templates', 'age_over_18, membership', '--pairing-ttl', '60'],
    )
    expect(Object.keys(made)).toEqual(['device', 'pairing_code', 'pairing_url'])
    expect(made.device).toMatchObject({
      name: 'Till 2',
      status: 'pending',
      environment: 'live',
      allowed_templates: ['age_over_18', 'membership'],
    })
    expect(Date.parse(made.device.pairing_expires_at ?? '') - Date.parse(made.device.created_at)).toBe(60_000)
    expect(made.pairing_code).toMatch(/^VD-[0-9A-Z]{4}-[0-9A-Z]{4}$/)
    expect(made.pairing_url).toBe(`http://localhost:3000/till#pair=${made.pairing_code}`)
  })

  test('without --json prints the code, a QR code that fits a terminal, and the link at the public address', async () => {
    const env = { VIDIMUS_PUBLIC_URL: 'https://verify.example' }
    const { exitCode, stdout, stderr } = await vidimus(dir, ['device', 'register', '--tenant', tenant, ...TILL], env)
    expect([exitCode, stderr]).toEqual([0, ''])
    const code = /^VD-[0-9A-Z]{4}-[0-9A-Z]{4}$/m.exec(stdout)?.[0]
    expect(stdout).toContain(`https://verify.example/till#pair=${code}\n`)
    const drawing = stdout.split('\n').filter(line => /^[█▀▄ ]{20,}$/.test(line))
    expect(drawing.length).toBeGreaterThan(12)
    expect(new Set(drawing.map(line => line.length)).size).toBe(1)
    expect(drawing[0]?.length).toBeLessThan(60)
  })

  test('and its siblings exit 2 for a wrong call and 1 for an unknown id, and say why', async () => {
    const base = ['device', 'register', '--tenant', tenant]
    const wrong: [string[], number, string][] = [
      [['device'], 2, 'device needs a subcommand: device register'],
      [['device', 'register'], 2, '--tenant is missing'],
      [[...base, '--env', 'prod', '--name', 'x', '--templates', 'x'], 2, '--env'],
      [[...base, '--env', 'test', '--templates', 'x'], 2, '--name is missing'],
      [[...base, '--env', 'test', '--name', 'x'], 2, '--templates is missing'],
      [[...base, '--env', 'test', '--name', 'x'.repeat(65), '--templates', 'x'], 2, '--name'],
      [[...base, '--env', 'test', '--name', 'x', '--templates', ' , '], 2, '--templates'],
      [[...base, '--env', 'test', '--name', 'x', '--templates', 'x'.repeat(65)], 2, '--templates'],
      [
        [...base, '--env', 'test', '--name', 'x', '--templates', Array.from({ length: 21 }, (_, i) => i).join()],
        2,
        '--templates',
      ],
      [[...base, ...TILL, '--pairing-ttl', '59'], 2, '--pairing-ttl'],
      [[...base, ...TILL, '--pairing-ttl', '86401'], 2, '--pairing-ttl'],
      [['device', 'register', '--tenant', 'ten_x', ...TILL], 1, 'there is no tenant ten_x'],
      [['device', 'list', '--tenant', tenant, '--name', 'x'], 2, 'takes no --name'],
      [['device', 'revoke'], 2, 'the device id is missing'],
      [['device', 'revoke', 'x'], 1, 'there is no device x'],
    ]
    const runs = await Promise.all(wrong.map(([args]) => vidimus(dir, args)))
    expect(runs.map(({ exitCode }) => exitCode)).toEqual(wrong.map(([, code]) => code))
    runs.forEach(({ stderr, stdout }, i) => {
      expect(stderr).toContain(wrong[i]?.[2] ?? '')
      expect(stdout).toBe('')
    })
  })
})

test('device list shows both environments or one, newest first', async () => {
  const { id } = await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Other')
  const add = (env: string, name: string) =>
    vidimusJson(dir, 'device', 'register', '--tenant', id, '--env', env, '--name', name, '--templates', 'x')
  await add('test', 'first')
  await add('live', 'second')
  await add('test', 'third')
  const list = async (...flags: string[]) =>
    (await vidimusJson<{ data: Device[] }>(dir, 'device', 'list', '--tenant', id, ...flags)).data.map(({ name }) => name)
  expect(await list()).toEqual(['third', 'second', 'first'])
  expect(await list('--env', 'test')).toEqual(['third', 'first'])
  const { stdout } = await vidimus(dir, ['device', 'list', '--tenant', id])
  expect(stdout).toMatch(/^ID +NAME +ENV +STATUS +LAST SEEN +TEMPLATES\n(\S+ +(third|second|first) +.*pending +never +x\n){3}$/)
})

test('device list prints a question mark for each control character of a name that an earlier version accepted', async () => {
  const { device } = await register()
  editRows(dir, 'UPDATE devices SET name = ? WHERE id = ?', 'Till\u001b[2J\n', device.id)
  const { stdout } = await vidimus(dir, ['device', 'list', '--tenant', tenant])
  expect(stdout).toContain('Till?[2J')
  expect(stdout).not.toContain('\u001b')
})

test('device revoke stops every token of the device at once, refresh tokens included, and can be repeated', async () => {
  const { device, pairing_code } = await register()
  const { body } = await post<TokenPair>('/v1/devices/enroll', { pairing_code })
  const usage = () => call(server.url, 'GET', '/v1/usage', { key: body.access_token })
  expect(outcome(await usage())).toBe('200')
  const revoked = await vidimusJson<Device>(dir, 'device', 'revoke', device.id)
  expect(revoked.status).toBe('revoked')
  expect(outcome(await usage())).toBe('401 invalid_api_key')
  expect(outcome(await post('/v1/devices/token', { refresh_token: body.refresh_token }))).toBe('400 invalid_refresh_token')
  expect(await vidimusJson<Device>(dir, 'device', 'revoke', device.id)).toEqual(revoked)
})

test('a pairing code of device register works at once, and not after device revoke', async () => {
  const [good, bad] = [await register(), await register()]
  await vidimusJson(dir, 'device', 'revoke', bad.device.id)
  expect(outcome(await post('/v1/devices/enroll', { pairing_code: bad.pairing_code }))).toBe('400 invalid_pairing_code')
  expect(outcome(await post('/v1/devices/enroll', { pairing_code: good.pairing_code }))).toBe('200')
})

test('device set changes name and templates, and device pair prints a new code for the same device', async () => {
  const { device, pairing_code } = await register()
  const changed = await vidimusJson<Device>(dir, 'device', 'set', device.id, '--name', 'Till 9', '--templates', 'age_over_21')
  expect(changed).toMatchObject({ id: device.id, name: 'Till 9', allowed_templates: ['age_over_21'] })
  expect((await vidimus(dir, ['device', 'set', device.id])).stderr).toContain('give --name, --templates or both')
  const again = await vidimusJson<Registered>(dir, 'device', 'pair', device.id, '--pairing-ttl', '60')
  expect(again.pairing_url).toEndWith(`/till#pair=${again.pairing_code}`)
  expect(outcome(await post('/v1/devices/enroll', { pairing_code }))).toBe('400 invalid_pairing_code')
  expect(outcome(await post('/v1/devices/enroll', { pairing_code: again.pairing_code }))).toBe('200')
  expect((await vidimus(dir, ['device', 'pair', 'x'])).stderr).toContain('there is no device x')
})
