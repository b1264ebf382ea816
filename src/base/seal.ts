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

/** For sealers that only open. */
export const NO_RANDOM: Random = () => {
  throw new Error('nothing is sealed here')
}

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
 * was made with it, or it is made again at once. `layered`: a further key joins, without which the earlier ones give nothing
 * that is stored from then on. `rewritten`: replaced; the earlier keys find what was made with them until it is written again.
 */
export const PURPOSES = {
  'audit checkpoint': 'turned',
  'audit subject': 'layered',
  'dashboard account': 'turned',
  'dashboard csrf': 'turned',
  'device replay': 'turned',
  'idempotency key': 'layered',
  'installation probe': 'turned',
  'known browser': 'turned',
  'metadata term': 'rewritten',
  network: 'turned',
  'pairing code': 'turned',
  'passkey challenge': 'turned',
  'recovery code': 'layered',
  'trust bundle': 'turned',
  'webhook receivers': 'turned',
  'wrapping keys': 'layered',
} as const satisfies Record<string, 'turned' | 'layered' | 'rewritten'>
export type Purpose = keyof typeof PURPOSES

const isTurned = (purpose: Purpose): boolean => PURPOSES[purpose] === 'turned'

/** The keys of a purpose that keeps earlier ones, the newest last. */
export const layersOf = (key: Buffer): Buffer[] =>
  Array.from({ length: key.length / KEY_BYTES }, (_, i) => key.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES))

/** Names of a text under each key of a layered purpose, each made of the one before; the last one counts. */
export function namesUnder(key: Buffer): (text: string) => string[] {
  const macs = layersOf(key).map(layer => hmacSha256With(layer))
  return text => {
    let name = text
    return macs.map(mac => (name = mac(name).toString('hex')))
  }
}

/** The name under the newest key, of that under those before. */
export function nextNameUnder(key: Buffer): (name: string) => string {
  const mac = hmacSha256With(layersOf(key).at(-1)!)
  return name => mac(name).toString('hex')
}

/** The keys that the master key wraps. */
export type Keyring = {
  /** New rows are sealed under this one. */
  epoch: number
  /** Row keys; more than one while rows are sealed again under the newest. */
  rows: ReadonlyMap<number, Buffer>
  /** Keys of purposes that are not turned, one after the other, once the root key of the first was given up. */
  kept: ReadonlyMap<string, Buffer>
  /** All other purposes are derived from it. */
  base: Buffer
  /** The audit entries with which new row keys were taken. */
  begun: readonly number[]
}

export type Sealer = {
  /** The epoch of the row key for new text. */
  epoch: number
  /** The audit entries with which each epoch after the first began. */
  begun: readonly number[]
  seal(place: Place, text: string): Buffer
  open(place: Place, sealed: Uint8Array): string
  /** The text under the newest row key; undefined when it is already. */
  sealAgain(place: Place, sealed: Uint8Array): Buffer | undefined
  /** A key for one named purpose, after the earlier ones that it keeps: look-up hashes, audit subjects, the checkpoint signature. Cached: they are few. */
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
  begun: [],
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
    kept: new Map(
      (Object.keys(PURPOSES) as Purpose[])
        .filter(purpose => !isTurned(purpose))
        .map(purpose => [purpose, Buffer.concat([purposeKey(keyring, purpose), random(KEY_BYTES)])]),
    ),
    base: Buffer.from(random(KEY_BYTES)),
    begun: keyring.begun,
  }
}

/** Called once every row is sealed under the newest key, and what is rewritten with it. */
export const dropOldEpochs = ({ epoch, rows, kept, ...keyring }: Keyring): Keyring => ({
  ...keyring,
  epoch,
  rows: new Map([[epoch, rows.get(epoch)!]]),
  kept: new Map([...kept].map(([name, key]) => [name, PURPOSES[name as Purpose] === 'rewritten' ? layersOf(key).at(-1)! : key])),
})

const purposeKey = ({ kept, base }: Keyring, purpose: Purpose): Buffer => kept.get(purpose) ?? derive(base, purpose)

export function createSealer(keys: Uint8Array | Keyring, random: Random): Sealer {
  const keyring = keys instanceof Uint8Array ? keyringOf(keys) : keys
  const { epoch, begun } = keyring
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
    begun,
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
