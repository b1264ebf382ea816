// Receivers with a certificate of the venue's own authority.
import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeLocalTls } from '../../src/cli/tls/local-tls.ts'
import { ConfigError, readExtraCa } from '../../src/config.ts'
import { cleanUp, startApp, startWithTenant, temporaryDir } from '../helpers/app.ts'
import { examine } from '../helpers/doctor.ts'
import { declined, logOf, untilAttempted } from '../helpers/receiver.ts'

const HOST = 'hooks.venue.example'

let received = 0

const makeTls = (hosts: string[]) =>
  makeLocalTls({
    folder: temporaryDir(),
    hosts,
    hostsDefault: [],
    at: Date.now(),
    random: count => new Uint8Array(randomBytes(count)),
  })

const [venue, other] = [await makeTls([HOST]), await makeTls([HOST])]
const tls = { cert: readFileSync(venue.certFile, 'utf8'), key: readFileSync(venue.keyFile, 'utf8') }
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls,
  fetch() {
    received++
    return new Response(null, { status: 204 })
  },
})
afterAll(async () => {
  await receiver.stop(true)
  await cleanUp()
})

function fileWith(text: string): string {
  const file = join(temporaryDir(), 'authorities.pem')
  writeFileSync(file, text)
  return file
}

async function startWith(extraCaFile: string) {
  const egressAllow = [{ address: '127.0.0.1', prefix: 32, port: receiver.port ?? 0 }]
  const { app, liveKey } = await startWithTenant({ resolve: async () => ['127.0.0.1'], config: { egressAllow, extraCaFile } })
  const outcomeAt = async (host = HOST) => {
    const id = await declined({ app, key: liveKey }, `https://${host}:${receiver.port}/hook`)
    await untilAttempted(app, id, 1)
    return logOf(app, id).attempts[0]?.outcome
  }
  const checkOf = async (wanted: string) => (await examine(app.deps, true)).find(({ name }) => name === wanted)
  return { app, outcomeAt, checkOf }
}

describe('a webhook to a receiver with a certificate of an own authority', () => {
  test('fails without VIDIMUS_EXTRA_CA, or with another authority in it', async () => {
    for (const file of ['', other.caFile]) {
      const { outcomeAt, checkOf } = await startWith(file)
      expect(await outcomeAt()).toBe('tls_failed')
      expect(await checkOf('webhooks')).toMatchObject({
        status: 'problem',
        detail: expect.stringContaining('its certificate is not valid'),
        remedy: expect.stringContaining('VIDIMUS_EXTRA_CA'),
      })
    }
    expect(received).toBe(0)
  })

  test('arrives when its authority is among several in the file, with comments between them', async () => {
    const [first, second] = [other, venue].map(({ caFile }) => readFileSync(caFile, 'utf8'))
    const { outcomeAt, checkOf } = await startWith(fileWith(`# another\n${first}\n# ours\n${second}\n`))
    expect(await outcomeAt()).toBe('delivered')
    expect(received).toBe(1)
    expect(await checkOf('webhooks')).toMatchObject({ status: 'ok' })
  })

  test('still fails under a name that the certificate is not for', async () => {
    const { outcomeAt } = await startWith(venue.caFile)
    expect(await outcomeAt('elsewhere.venue.example')).toBe('tls_failed')
  })
})

test('the authorities of the system still count with VIDIMUS_EXTRA_CA', async () => {
  const egress = join(import.meta.dir, '../../src/egress')
  const limits = { resolveMs: 2000, connectMs: 5000, totalMs: 15_000, answerBytes: 4096 }
  const call = { url: `https://${HOST}:${receiver.port}/`, method: 'GET', headers: {}, limits, onLargeAnswer: 'cut' }
  const code = `
    import { createExtraCa } from ${JSON.stringify(join(egress, 'authorities.ts'))}
    import { callAt } from ${JSON.stringify(join(egress, 'client.ts'))}
    const extraCa = createExtraCa(${JSON.stringify(readFileSync(other.caFile, 'utf8'))})
    const answer = await callAt('127.0.0.1', ${JSON.stringify(call)}, { extraCa })
    console.log(answer.ok)`
  // The runtime counts these among the system's own.
  const child = Bun.spawn([process.execPath, '-e', code], { env: { ...process.env, NODE_EXTRA_CA_CERTS: venue.caFile } })
  expect((await new Response(child.stdout).text()).trim()).toBe('true')
})

test('the doctor names the authorities of VIDIMUS_EXTRA_CA, and warns a month before one ends', async () => {
  expect(await (await startWith('')).checkOf('extra_ca')).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(/trust only the authorities of the system/),
  })
  const { app, checkOf } = await startWith(venue.caFile)
  expect(await checkOf('extra_ca')).toMatchObject({ status: 'ok', detail: expect.stringMatching(/also trust .*CN=/) })
  app.clock.advance(100 * 365 * 86_400_000)
  expect(await checkOf('extra_ca')).toMatchObject({ status: 'warning', remedy: expect.stringMatching(/current ones/) })
})

describe('an unusable VIDIMUS_EXTRA_CA stops the start with a hint', () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'

  test.each([
    ['is not there', () => '/nonexistent/ca.pem', /cannot read \/nonexistent\/ca\.pem \(ENOENT\); check the path/],
    ['is a directory', () => temporaryDir(), /cannot read/],
    ['is empty', () => fileWith(''), /holds no certificate; it must be PEM/],
    ['holds a key only', () => venue.keyFile, /holds no certificate; it must be PEM/],
    [
      'has a broken certificate behind a good one',
      () => fileWith(`${readFileSync(venue.caFile)}${broken}`),
      /certificate 2 in .* cannot be read/,
    ],
    ["holds a server's certificate", () => venue.certFile, /is not an authority's; name the one that issued it/],
    [
      'is larger than a mebibyte',
      () => fileWith(`${readFileSync(venue.caFile)}${'#'.repeat(1024 * 1024)}`),
      /larger than 1024 KiB/,
    ],
  ])('when it %s', async (_, file, message) => {
    const path = file()
    expect(() => readExtraCa(path)).toThrow(ConfigError)
    expect(() => readExtraCa(path)).toThrow(message)
    await expect(startApp({ config: { extraCaFile: path } })).rejects.toThrow(/^VIDIMUS_EXTRA_CA: /)
  })
})
