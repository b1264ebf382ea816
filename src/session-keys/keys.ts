// Every verification has a key of its own, mixed into the row key of everything personal that it has
// (seal.ts). It is derived from its id and the wrapping key of its day. When the wrapping key turns, the
// keys of all living verifications are wrapped under the next one (turn.ts). Once the old file is
// destroyed, an erased verification cannot be opened from any copy of the database.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { hmacSha256With } from '../base/hash.ts'
import type { Random } from '../base/ids.ts'
import { layersOf, type Sealer } from '../base/seal.ts'
import type { Db } from '../db/engine.ts'
import { StartRefusal } from '../db/refusal.ts'
import { fileOf, isClosedFile, readKeyFile, refuseOpenFile } from './files.ts'
import {
  findWrapped,
  findWrappingKeyOf,
  listWrappingKeys,
  listWrappingKeysOf,
  type WrappedKey,
  type WrappingKeyRow,
} from './store.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16
const FINGERPRINT_BYTES = 16

type KeyedRow = { id: string; wrappingKey: number }

/** The key of a row; undefined when it belongs to no verification, or when the key cannot be had any more. */
type KeyLookup = (row: { sessionId: string | null; wrappingKey: number | null }) => Uint8Array | undefined

export type SessionKeys = {
  /** Names of the installation in its files; new ones have the last. */
  names: readonly string[]
  /** The wrapping key for new rows. Throws before the start has made one. */
  current(): number
  /** The key of a row that lives no longer than its wrapping key. Throws when that is gone. */
  derive(id: string, wrappingKey: number): Uint8Array
  /** The key of a verification. Throws when its wrapping key is gone. */
  of(db: Db, session: KeyedRow): Promise<Uint8Array>
  /** The key for an id alone; undefined when the verification is gone. */
  find(db: Db, id: string): Promise<Uint8Array | undefined>
  findAll(db: Db, ids: readonly string[]): Promise<Map<string, Uint8Array | undefined>>
  lookUp(db: Db, rows: readonly { sessionId: string | null; wrappingKey: number | null }[]): Promise<KeyLookup>
  /** The key from its first wrapping key, or from its wrapped form; undefined when neither can be opened. */
  from(session: KeyedRow, kept: WrappedKey | undefined): Uint8Array | undefined
  wrap(id: string, sessionKey: Uint8Array, wrappingKey: number): Buffer
  /** The fingerprint of a file; undefined when it cannot be read. */
  fingerprintOf(id: number): Buffer | undefined
  isReadable(row: WrappingKeyRow): boolean
  /** False for a file of before the newest data key. */
  isOfNewestName(id: number): boolean
  /** Reads which key is current, and forgets those that are gone. */
  look(db: Db): Promise<WrappingKeyRow[]>
}

type Loaded = {
  createdAt: number
  fingerprint: Buffer
  derive(id: string): Buffer
  wrapKey: Buffer
  isOwn: boolean
}

type Given = { keyDir: string; sealer: Pick<Sealer, 'key'>; random: Random }

export function createSessionKeys({ keyDir, sealer, random }: Given): SessionKeys {
  const names = layersOf(sealer.key('wrapping keys')).map(key => key.toString('hex', 0, 8))
  const loaded = new Map<number, Loaded>()
  let current: number | undefined

  function load(id: number): Loaded | undefined {
    const known = loaded.get(id)
    if (known) return known
    const file = readKeyFile(keyDir, id, names)
    if (!file) return undefined
    const part = (purpose: string) => Buffer.from(hkdfSync('sha256', file.key, 'vidimus', purpose, 32))
    const made = {
      createdAt: file.createdAt,
      fingerprint: part('fingerprint').subarray(0, FINGERPRINT_BYTES),
      derive: hmacSha256With(part('session keys')),
      wrapKey: part('wrap'),
      isOwn: file.isOwn,
    }
    loaded.set(id, made)
    return made
  }

  const derived = ({ id, wrappingKey }: KeyedRow) => load(wrappingKey)?.derive(id)

  function unwrapped(id: string, kept: WrappedKey | undefined): Uint8Array | undefined {
    const key = kept && load(kept.wrappingKey)
    return key && unwrap(key.wrapKey, id, kept.wrapped)
  }

  /** Rows whose first wrapping key still exists need no look-up. */
  async function keysOf(db: Db, rows: readonly KeyedRow[]): Promise<Map<string, Uint8Array | undefined>> {
    const keys = new Map<string, Uint8Array | undefined>(rows.map(row => [row.id, derived(row)]))
    const others = rows.filter(({ id }) => !keys.get(id)).map(({ id }) => id)
    const wrapped = await findWrapped(db, others)
    for (const id of others) keys.set(id, unwrapped(id, wrapped.get(id)))
    return keys
  }

  const of = async (db: Db, session: KeyedRow): Promise<Uint8Array> =>
    required(derived(session) ?? (await keysOf(db, [session])).get(session.id))

  const isReadable = ({ id, fingerprint }: WrappingKeyRow) => load(id)?.fingerprint.equals(fingerprint) ?? false

  return {
    names,
    current() {
      if (current === undefined) throw new Error('there is no wrapping key')
      return current
    },
    derive: (id, wrappingKey) => required(derived({ id, wrappingKey })),
    of,
    async find(db, id) {
      const session = await findWrappingKeyOf(db, id)
      return session && (await of(db, session))
    },
    findAll: async (db, ids) => await keysOf(db, await listWrappingKeysOf(db, ids)),
    async lookUp(db, rows) {
      const keyed = rows.flatMap(({ sessionId, wrappingKey }) =>
        sessionId === null || wrappingKey === null ? [] : [{ id: sessionId, wrappingKey }],
      )
      const keys = await keysOf(db, keyed)
      return ({ sessionId }) => (sessionId === null ? undefined : keys.get(sessionId))
    },
    from: (session, kept) => derived(session) ?? unwrapped(session.id, kept),
    wrap(id, sessionKey, wrappingKey) {
      const key = load(wrappingKey)
      if (!key) throw new Error(`wrapping key ${wrappingKey} cannot be read`)
      return wrap(key.wrapKey, id, sessionKey, random)
    },
    fingerprintOf: id => load(id)?.fingerprint,
    isReadable,
    isOfNewestName: id => load(id)?.isOwn ?? false,
    async look(db) {
      const rows = await listWrappingKeys(db)
      const known = new Set(rows.map(({ id }) => id))
      for (const id of loaded.keys()) if (!known.has(id)) loaded.delete(id)
      current = currentOf(rows.filter(isReadable))?.id
      return rows
    },
  }
}

function required(key: Uint8Array | undefined): Uint8Array {
  if (!key) throw new Error('the wrapping key of this verification is gone')
  return key
}

/** The newest that is in use. */
export const currentOf = (rows: readonly WrappingKeyRow[]): WrappingKeyRow | undefined =>
  rows.findLast(({ activeAt, retiredAt }) => activeAt !== null && retiredAt === null)

/** A verification that lives may need any of these. */
export const neededOf = (rows: readonly WrappingKeyRow[]): WrappingKeyRow[] =>
  rows.filter(({ activeAt, retiredAt }) => activeAt !== null && retiredAt === null)

/** Without a needed key some verifications cannot be read, and nobody would notice until they are. */
export async function refuseMissingKeys(keyDir: string, keys: SessionKeys, db: Db): Promise<void> {
  for (const row of neededOf(await listWrappingKeys(db))) {
    refuseOpenFile(keyDir, row.id)
    if (keys.isReadable(row)) continue
    const file = fileOf(keyDir, row.id)
    if (keys.fingerprintOf(row.id))
      throw new StartRefusal('key_wrong', `${file} does not belong to this database; put the right one back`)
    if (isClosedFile(file))
      throw new StartRefusal('directory_unusable', `cannot use ${file} (EACCES); let the user of the service read it`)
    throw new StartRefusal(
      'key_missing',
      `${file} is missing or unreadable, and without it verifications cannot be read; put it back from your safe copy`,
    )
  }
}

function wrap(wrapKey: Buffer, id: string, sessionKey: Uint8Array, random: Random): Buffer {
  const nonce = random(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', wrapKey, nonce)
  cipher.setAAD(Buffer.from(id))
  return Buffer.concat([nonce, cipher.update(sessionKey), cipher.final(), cipher.getAuthTag()])
}

function unwrap(wrapKey: Buffer, id: string, wrapped: Uint8Array): Buffer | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', wrapKey, wrapped.subarray(0, NONCE_BYTES))
    decipher.setAAD(Buffer.from(id))
    decipher.setAuthTag(wrapped.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(wrapped.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}
