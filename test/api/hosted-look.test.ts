// A shop's logo, colour and privacy notice on the hosted page.
import { expect, test } from 'bun:test'
import { inkOn, LookProblem, readLogo, setLook } from '../../src/tenants/look.ts'
import type { HostedVerification } from '../../src/verifications/schema.ts'
import { createVerification, startWithTenant } from '../helpers/app.ts'

const { app, key, id: tenantId } = await startWithTenant()

const LOGOS = {
  'image/png': Buffer.from('89504e470d0a1a0a0000', 'hex'),
  'image/jpeg': Buffer.from('ffd8ffe000104a46', 'hex'),
  'image/webp': Buffer.from('52494646100000005745425056503820', 'hex'),
}
const PRIVACY = 'https://shop.example/privacy'

const set = (changes: Parameters<typeof setLook>[2]) => setLook(app.deps, tenantId, changes, 'test')
const lookOf = async (id: string) => (await app.call<HostedVerification>('GET', `/v/${id}/data`)).body.look

test('the page has the look of its shop, and each part is changed or removed by itself', async () => {
  const { id } = await createVerification(app, key)
  expect(await lookOf(id)).toBeUndefined()
  expect((await app.call('GET', `/v/${id}/logo`)).status).toBe(404)

  await set({ accent: '#ffcc00', privacyUrl: PRIVACY })
  expect(await lookOf(id)).toEqual({ accent: { color: '#ffcc00', ink: '#000000' }, privacy_url: PRIVACY })

  for (const [type, logo] of Object.entries(LOGOS)) {
    app.clock.advance(1000)
    await set({ logo })
    const { logo: path = '' } = (await lookOf(id)) ?? {}
    const answer = await fetch(`${app.url}/${path}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(logo)
  }

  await set({ accent: null, logo: null })
  expect(await lookOf(id)).toEqual({ privacy_url: PRIVACY })
  expect(await readLogo(app.deps.db, tenantId)).toBeUndefined()
  expect((await app.call('GET', '/v/vs_unknown/logo')).status).toBe(404)
})

test('the line for people without a wallet is shown in the languages that it was written in, to whoever has the link', async () => {
  const { id } = await createVerification(app, key)
  const lines = { de: 'Oder zeigen Sie Ihren Ausweis.', pl: 'Albo pokaż dowód.' }
  await set({ withoutWallet: lines })
  expect((await lookOf(id))?.without_wallet).toEqual(lines)
  await set({ privacyUrl: PRIVACY })
  expect((await lookOf(id))?.without_wallet).toEqual(lines)
  await set({ withoutWallet: null })
  expect(await lookOf(id)).not.toHaveProperty('without_wallet')
})

test('a look that could harm a page is refused', async () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')
  const large = Buffer.concat([LOGOS['image/png'], Buffer.alloc(64 * 1024)])
  const riff = Buffer.from('524946461000000041564920', 'hex')
  for (const logo of [svg, large, riff, Buffer.alloc(0)]) await expect(set({ logo })).rejects.toBeInstanceOf(LookProblem)
  for (const accent of ['red', '#FFCC00', '#fc0', '#ffcc00;}', 'var(--x)'])
    await expect(set({ accent })).rejects.toBeInstanceOf(LookProblem)
  const urls = [
    'http://shop.example',
    'javascript:alert(1)',
    'https://a:b@shop.example',
    `https://shop.example/${'x'.repeat(1000)}`,
  ]
  for (const privacyUrl of urls) await expect(set({ privacyUrl })).rejects.toBeInstanceOf(LookProblem)
})

test('text on an accent is white or black, whichever has more contrast', () => {
  const light = ['#ffffff', '#ffcc00', '#7aa2ff', '#808080']
  const dark = ['#000000', '#1f4fd8', '#b3261e', '#6b6b6b']
  expect(light.map(inkOn)).toEqual(light.map(() => '#000000'))
  expect(dark.map(inkOn)).toEqual(dark.map(() => '#ffffff'))
})
