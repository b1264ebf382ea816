// Sealed text can be read only with the master key, and only in its own place: the key is derived
// per tenant and row, and table, column and row are authenticated. Deleting the salt of a row makes
// everything sealed under it unreadable. Text of a verification also needs the session's own key,
// which is kept outside the database (session-keys/).
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { hmacSha256With } from './hash.ts'
import type { Random } from './ids.ts'

const KEY_BYTES = 32
const HEADER_BYTES = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The header of sealed text is the epoch of its row key. */
const EPOCHS = 256
export const SALT_BYTES = 16

export type Place = {
  tenant: string
  table: string
  column: string
  row: string
  salt: Uint8Array
  /** The key of the verification that the row belongs to. */
  sessionKey?: Uint8Array
}

/**
 * Uses of the root key beside rows, and what a new data key does to the key of each. `turned`: replaced; nothing lasting
 * was made with it. `layered`: what is stored gets a layer under a further key, which is needed too from then on. `kept`:
 * what is stored can be neither found nor checked without it, and cannot be made again.
 */
export const PURPOSES = {
  'audit checkpoint': 'kept',
  'audit subject': 'kept',
  'dashboard account': 'turned',
  'dashboard csrf': 'turned',
  'device replay': 'turned',
  'idempotency key': 'kept',
  'installation probe': 'turned',
  'known browser': 'turned',
  'metadata term': 'kept',
  network: 'turned',
  'pairing code': 'turned',
  'passkey challenge': 'turned',
  'recovery code': 'layered',
  'trust bundle': 'turned',
  'webhook lanes': 'turned',
  'wrapping keys': 'kept',
} as const satisfies Record<string, 'turned' | 'layered' | 'kept'>
export type Purpose = keyof typeof PURPOSES

export const purposesThatAre = (fate: (typeof PURPOSES)[Purpose]): Purpose[] =>
  (Object.keys(PURPOSES) as Purpose[]).filter(purpose => PURPOSES[purpose] === fate)

/** The keys of a layered purpose, one after the other: each is used on the result of the one before. */
export const layersOf = (key: Buffer): Buffer[] =>
  Array.from({ length: key.length / KEY_BYTES }, (_, i) => key.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES))

/** The keys that the master key wraps. */
export type Keyring = {
  /** New rows are sealed under this one. */
  epoch: number
  /** Row keys; more than one while rows are sealed again under the newest. */
  rows: ReadonlyMap<number, Buffer>
  /** Kept when the root key they were derived from was given up. */
  kept: ReadonlyMap<string, Buffer>
  /** All other purposes are derived from it. */
  base: Buffer
}

export type Sealer = {
  /** The epoch of the row key for new text. */
  epoch: number
  seal(place: Place, text: string): Buffer
  open(place: Place, sealed: Uint8Array): string
  /** The text under the newest row key; undefined when it is already. */
  sealAgain(place: Place, sealed: Uint8Array): Buffer | undefined
  /** A key for one named purpose, or its layers: look-up hashes, audit subjects, the checkpoint signature. Cached: they are few. */
  key(purpose: Purpose): Buffer
}

const nameOf = ({ table, column, row }: Place): string => `${table}|${column}|${row}`

const derive = (key: Uint8Array, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, 'vidimus', purpose, KEY_BYTES))

/** The keys of an installation whose root key was never replaced. */
export const keyringOf = (rootKey: Uint8Array): Keyring => ({
  epoch: 0,
  rows: new Map([[0, derive(rootKey, 'rows')]]),
  kept: new Map(),
  base: Buffer.from(rootKey),
})

/**
 * A new row key beside the old ones, and a new root key, of which the turned purposes are derived. The old root key is
 * given up, so that it opens no row any more once the old row keys are dropped.
 */
export function beginEpoch(keyring: Keyring, random: Random): Keyring {
  const epoch = (keyring.epoch + 1) % EPOCHS
  return {
    epoch,
    rows: new Map([...keyring.rows, [epoch, Buffer.from(random(KEY_BYTES))]]),
    kept: new Map([
      ...purposesThatAre('kept').map(purpose => [purpose, purposeKey(keyring, purpose)] as const),
      ...purposesThatAre('layered').map(
        purpose => [purpose, Buffer.concat([purposeKey(keyring, purpose), random(KEY_BYTES)])] as const,
      ),
    ]),
    base: Buffer.from(random(KEY_BYTES)),
  }
}

/** Called once every row is sealed under the newest key. */
export const dropOldEpochs = ({ epoch, rows, ...keyring }: Keyring): Keyring => ({
  ...keyring,
  epoch,
  rows: new Map([[epoch, rows.get(epoch)!]]),
})

const purposeKey = ({ kept, base }: Keyring, purpose: Purpose): Buffer => kept.get(purpose) ?? derive(base, purpose)

export function createSealer(keys: Uint8Array | Keyring, random: Random): Sealer {
  const keyring = keys instanceof Uint8Array ? keyringOf(keys) : keys
  const { epoch } = keyring
  const purposes = new Map<Purpose, Buffer>()
  const expanders = new Map([...keyring.rows].map(([number, key]) => [number, hmacSha256With(key)]))
  const header = Buffer.from([epoch])

  // One HMAC is HKDF-Expand for a single block (RFC 5869 2.3). Salts of one table have one length,
  // so a session key cannot be mistaken for a part of the salt.
  function rowKey(number: number, { tenant, table, salt, sessionKey }: Place): Buffer {
    const expand = expanders.get(number)
    if (!expand) throw new Error('sealed under a key that is gone')
    const name = `${table}\0${tenant}\0`
    return sessionKey ? expand(name, salt, sessionKey, '\x01') : expand(name, salt, '\x01')
  }

  function seal(place: Place, text: string): Buffer {
    const nonce = random(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', rowKey(epoch, place), nonce)
    cipher.setAAD(Buffer.from(nameOf(place)))
    return Buffer.concat([header, nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  }

  function open(place: Place, sealed: Uint8Array): string {
    const [number = -1] = sealed
    const text = sealed.subarray(HEADER_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', rowKey(number, place), text.subarray(0, NONCE_BYTES))
    decipher.setAAD(Buffer.from(nameOf(place)))
    decipher.setAuthTag(text.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(text.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8')
  }

  return {
    epoch,
    seal,
    open,
    sealAgain: (place, sealed) => (sealed[0] === epoch ? undefined : seal(place, open(place, sealed))),
    key(purpose) {
      const known = purposes.get(purpose) ?? purposeKey(keyring, purpose)
      purposes.set(purpose, known)
      return known
    },
  }
}
