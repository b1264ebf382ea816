import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { signJwt } from '../../src/sandbox/es256.ts'
import { cleanUp, temporaryDir } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { forgeSigner } from '../helpers/forger.ts'
import { hostLists } from '../helpers/list-host.ts'

afterAll(cleanUp)

const HOUR = 3_600_000
const signer = await forgeSigner()

async function statusList(sub: string): Promise<string> {
  const header = { typ: 'statuslist+jwt', x5c: signer.chain.map(der => Buffer.from(der).toString('base64')) }
  const status_list = { bits: 1, lst: deflateSync(new Uint8Array(16)).toString('base64url') }
  // Commands have the real clock.
  const now = Date.now()
  const claims = { iat: Math.floor(now / 1000), exp: Math.floor((now + 48 * HOUR) / 1000) }
  return await signJwt(signer.key, header, { sub, ...claims, status_list })
}

test('trust status adds, lists, refreshes and removes a list, and a bundle says until when it is good', async () => {
  const host = await hostLists()
  const url = host.url('/status', 'localhost')
  host.answer(async () => new Response(await statusList(url), { headers: { 'content-type': 'application/statuslist+jwt' } }))
  const dir = join(temporaryDir(), 'data')
  const call = (...args: string[]) => vidimus(dir, ['trust', ...args], host.env)
  expect((await call('status', 'add', 'http://localhost/list')).stderr).toContain('is not the https address of a list')
  expect((await call('status', 'add', url)).stdout).toContain(`${url} is kept (statuslist+jwt): issued `)
  const listed = await vidimusJson<{ data: { uri: string; wanted: boolean }[] }>(dir, 'trust', 'status', 'list')
  expect(listed.data).toMatchObject([{ uri: url, wanted: true, from: 'fetched' }])
  expect(await call('status', 'refresh')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('fetched') })
  const file = join(temporaryDir(), 'trust.bundle')
  const { stdout } = await call('bundle', 'export', file, '--status')
  expect(stdout).toMatch(
    /1 list of revoked documents[\s\S]*Good in the venue until 20\d\d-.* if its VIDIMUS_STATUS_MAX_AGE is 24h\./,
  )
  host.answer(() => new Response('gone', { status: 503 }))
  const failed = await call('status', 'refresh')
  expect([failed.exitCode, failed.stdout]).toEqual([1, expect.stringContaining('its server answered 503')])
  expect((await call('status', 'remove', url)).stdout).toContain('is no longer kept')
  expect((await call('status', 'remove', url)).stderr).toContain('there is no list')
})
