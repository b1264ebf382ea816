import { expect, test } from 'bun:test'
import { join } from 'node:path'

const SANDBOX = join(import.meta.dir, '../../src/sandbox')

test('the wallet can be bundled for a browser: no node: module and no Buffer in it', async () => {
  const built = await Bun.build({ entrypoints: [join(SANDBOX, 'wallet.ts')], target: 'browser' })
  expect(built.success).toBe(true)
  const text = await built.outputs[0]!.text()
  expect(text).toContain('OpenID4VPHandover')
  expect(text).not.toMatch(/["']node:/)
  expect(text).not.toContain('Buffer.')
  expect(text).not.toContain('MII')
})

test('the wallet takes nothing but types from the verifier, so that an error of one is not an error of both', async () => {
  const files = await Array.fromAsync(new Bun.Glob('*.ts').scan(SANDBOX))
  expect(files.length).toBeGreaterThan(15)
  for (const file of files) {
    const text = await Bun.file(join(SANDBOX, file)).text()
    const shared = [...text.matchAll(/^(?:import|export) (.*) from '\.\.\/openid4vp\/[^']+'$/gm)]
    expect(shared.filter(([, names]) => !names!.startsWith('type ')).map(([line]) => `${file}: ${line}`)).toEqual([])
  }
})
