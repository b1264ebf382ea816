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
  const files = [
    'wallet',
    'request',
    'select',
    'wallet-mdoc',
    'wallet-sd-jwt',
    'wallet-response',
    'issue-mdoc',
    'issue-sd-jwt',
    'issuer',
  ]
  for (const file of files) {
    const text = await Bun.file(join(SANDBOX, `${file}.ts`)).text()
    const foreign = [...text.matchAll(/^import (.*) from '(\.\.\/[^']+)'$/gm)].filter(([, what]) => !what!.startsWith('type '))
    expect(foreign.map(([line]) => line)).toEqual([])
  }
})
