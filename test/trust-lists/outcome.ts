import { expect } from 'bun:test'
import type { ListRefused, ReadList, RefusalCode, TrustList } from '../../src/trust-lists/list.ts'

export function accepted(read: ReadList): TrustList {
  if (!read.ok) throw new Error(`refused as ${read.code}: ${read.detail}`)
  return read.list
}

export function expectRefused(outcome: { ok: true } | ListRefused, code: RefusalCode, detail?: string): void {
  expect(outcome).toMatchObject({ ok: false, code })
  if (detail !== undefined) expect((outcome as ListRefused).detail).toContain(detail)
}
