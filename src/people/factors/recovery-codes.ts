// Ten codes for somebody who lost the second factor. Each works once; the database has their HMACs.

import type { Random } from '../../base/ids.ts'
import { namesUnder, nextNameUnder } from '../../base/seal.ts'
import type { Db } from '../../db/engine.ts'
import type { Making, Sealing, Unsealing } from '../../ground.ts'
import { deleteRecoveryCodesOf, insertRecoveryCodes, listRecoveryCodes, replaceRecoveryHash } from './factor-store.ts'

const CODES = 10
const CODE_CHARS = 10 // 50 bits
/** Crockford's: without I, L, O and U. */
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Replaces the earlier ones. With the user's row locked. */
export async function replaceRecoveryCodes(deps: Making & Sealing, tx: Db, userId: string): Promise<string[]> {
  const codes = Array.from({ length: CODES }, () => newCode(deps.random))
  await deleteRecoveryCodesOf(tx, userId)
  const rows = codes.map(code => ({ userId, hash: hashOf(deps, userId, code), createdAt: deps.now() }))
  await insertRecoveryCodes(tx, rows)
  return codes.map(code => `${code.slice(0, 5)}-${code.slice(5)}`)
}

const newCode = (random: Random): string => [...random(CODE_CHARS)].map(byte => BASE32[byte % 32]).join('')

/** The hash of a typed code: any case, dashes and spaces, O for 0, I or L for 1. Undefined when it is no code. */
export function recoveryHash(deps: Unsealing, userId: string, typed: string): string | undefined {
  const code = typed
    .toUpperCase()
    .replace(/[\s\p{Pd}]/gu, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
  return /^[0-9A-HJKMNP-TV-Z]{10}$/.test(code) ? hashOf(deps, userId, code) : undefined
}

const hashOf = ({ sealer }: Unsealing, userId: string, code: string): string =>
  namesUnder(sealer.key('recovery code'))(`${userId}\0${code}`).at(-1)!

/** With a new data key: codes stay usable, and nobody can test guesses with the earlier keys alone. */
export async function layerRecoveryCodes({ sealer }: Unsealing, tx: Db): Promise<void> {
  const next = nextNameUnder(sealer.key('recovery code'))
  for (const { userId, hash } of await listRecoveryCodes(tx))
    await replaceRecoveryHash(tx, { userId, hash, replacement: next(hash) })
}
