// A data directory with a list of issuers, a newer list for it, and what may be there after a kill while that is taken.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeSigner } from '../../trust-lists/make.ts'
import { temporaryDir } from '../app.ts'
import { DAY_MS } from '../certificates.ts'
import { vidimusJson } from '../command.ts'
import { copyOf } from '../directories.ts'
import { makeIssuers, pidList } from '../trusted-lists.ts'
import type { KillPoint } from './kill-at.ts'

type Shown = { sequence: number; entries: number; digest: string; issuers: { id: string }[] }

export type ListToTake = Awaited<ReturnType<typeof listToTake>>

export async function listToTake() {
  const files = temporaryDir()
  // Commands have the real clock.
  const today = Date.now()
  const signer = await makeSigner({ notBefore: today - DAY_MS, notAfter: today + 300 * DAY_MS })
  const issuers = await makeIssuers(40)
  const fileOf = (name: string, sequence: number, from: number, to: number) => {
    const file = join(files, name)
    const dates = { issuedAt: today - DAY_MS + sequence * 1000, nextUpdate: today + 30 * DAY_MS }
    writeFileSync(file, pidList(signer, issuers.slice(from, to), { ...dates, sequence }))
    return file
  }
  const [older, newer] = [fileOf('older.jwt', 5, 0, 30), fileOf('newer.jwt', 6, 20, 40)]
  const dir = join(files, 'data')
  mkdirSync(dir)
  const source = ['--kind', 'lote', '--env', 'live', '--signer', signer.fingerprint]
  const { id } = await vidimusJson<{ id: string }>(dir, 'trust', 'source', 'add', older, ...source)
  const shown = (own: string) => vidimusJson<Shown>(own, 'trust', 'source', 'show', id)
  return { files, dir, shown, take: ['trust', 'source', 'refresh', id, '--file', newer] }
}

const WHOLE = /^number (5, 30 issuers, 90|6, 20 issuers, 60) anchors$/

/** `problems` are empty when the old or the new list is there, whole, the chain verifies and the list can be taken again. */
export async function killTaking({ dir, take, shown }: ListToTake, { name, run }: KillPoint) {
  const own = copyOf(dir)
  const { isKilled } = await run(own, take)
  const { sequence, entries, issuers } = await shown(own)
  const state = `number ${sequence}, ${entries} issuers, ${issuers.length} anchors`
  const { ok } = await vidimusJson<{ ok: boolean }>(own, 'audit', 'verify')
  const again = await vidimusJson<Shown>(own, ...take)
  const problems = [
    ...(WHOLE.test(state) ? [] : [`${name}: ${state}`]),
    ...(ok ? [] : [`${name}: the chain does not verify`]),
    ...(again.sequence === 6 ? [] : [`${name}: number ${again.sequence} after the second try`]),
  ]
  return { isKilled, state, problems, own }
}
