// The sandbox issuer, made once for each address and time: its six certificates take 50 ms of processor time. Each directory
// seals it under its own root key. A start on a directory that a test names makes its own.
import type { Deps } from '../../src/deps.ts'
import { createIssuer } from '../../src/sandbox/issuer.ts'
import { saveSandbox } from '../../src/sandbox/store.ts'
import { PLACE } from '../../src/sandbox/world.ts'

const made = new Map<string, ReturnType<typeof createIssuer>>()

export async function takeSandbox({ config: { publicUrl }, now, random, sealer, write }: Deps): Promise<void> {
  const name = `${now()} ${publicUrl}`
  const state = made.get(name) ?? createIssuer({ publicUrl, now: now(), random })
  made.set(name, state)
  const sealed = sealer.seal(PLACE, JSON.stringify(await state))
  await write(tx => saveSandbox(tx, sealed, undefined))
}
