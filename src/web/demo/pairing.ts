import type { DemoData, DemoTill } from '../../demo/schema.ts'
import { callApi } from '../shared/api.ts'
import { keep, read, useKept } from '../till/memory.ts'
import { newKey } from '../till/new-key.ts'

const KEPT_AS = 'vidimus-demo'

/** The till of this demo: an earlier demo may have left invalid tokens in the browser. */
type Own = { key: string; device: string }

/** Stores a pairing code for the till in the frame, unless it is paired already. */
export async function pairTill({ key }: DemoData, name: string): Promise<void> {
  if (isOwn(key)) return
  const { device, pairing_code } = await callApi<DemoTill>('demo/tills', { method: 'POST', body: { name } })
  localStorage.setItem(KEPT_AS, JSON.stringify({ key, device } satisfies Own))
  for (const name of ['check', 'till', 'tokens', 'isUnpaired'] as const) keep(name, undefined)
  keep('pairing', { code: pairing_code, key: newKey() })
}

export function useIsPaired(data: DemoData | undefined): boolean {
  const tokens = useKept('tokens')
  return tokens !== undefined && data !== undefined && isOwn(data.key)
}

function isOwn(key: string): boolean {
  const own: Own | null = JSON.parse(localStorage.getItem(KEPT_AS) ?? 'null')
  return own?.key === key && own.device === read('tokens')?.device
}
