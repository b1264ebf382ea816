// Rows are sealed under keys that are stored in the database, wrapped by the master key. So a wrong
// master key is noticed at once, and a new one needs only this value wrapped again.
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { eq } from 'drizzle-orm'
import type { Random } from '../base/ids.ts'
import { createSealer, type Keyring, keyringOf, type Sealer } from '../base/seal.ts'
import { type EngineFinding, ok, problem } from './check.ts'
import type { Db } from './engine.ts'
import { unusable } from './file-refusal.ts'
import { giveToOwner, syncDirectory } from './files.ts'
import { StartRefusal } from './refusal.ts'
import { installation } from './schema/installation.ts'
import { SEALED } from './sealed-columns.ts'

const KEY_BYTES = 32

/** `isGiven`: the operator put it there (VIDIMUS_MASTER_KEY_FILE, a systemd credential). */
export type MasterKey = { file: string; isGiven: boolean }

/** The group may read a given key: Kubernetes and systemd hand secrets to a group. */
const FORBIDDEN_MODE = { own: 0o077, given: 0o037 }

/**
 * The sealer that opens the root key of this database. A new master key is kept beside the old one
 * until the database has it (upkeep/rekey.ts); after a kill in between, the new one is the right
 * one and is renamed here.
 */
export function findWrapper(masterKey: MasterKey, wrapped: Uint8Array, random: Random): Sealer {
  const newKey = { ...masterKey, file: newKeyOf(masterKey.file) }
  try {
    const wrapper = wrapperOf(masterKey, wrapped, random)
    // A given key may lie where nothing can be removed. A directory of this name is not ours.
    if (existsSync(newKey.file) && !isDirectory(newKey.file)) rmSync(newKey.file, { force: true })
    return wrapper
  } catch (error) {
    if (!(error instanceof StartRefusal) || error.reason !== 'key_wrong') throw error
    try {
      const wrapper = wrapperOf(newKey, wrapped, random)
      adoptNewKey(masterKey.file)
      return wrapper
    } catch {
      throw error
    }
  }
}

const newKeyOf = (keyFile: string): string => `${keyFile}.new`

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

function wrapperOf(masterKey: MasterKey, wrapped: Uint8Array, random: Random): Sealer {
  const wrapper = createSealer(loadMasterKey(masterKey), random)
  openRootKey(wrapper, wrapped)
  return wrapper
}

export function loadMasterKey({ file, isGiven }: MasterKey): Buffer {
  if (!existsSync(file)) {
    throw new StartRefusal(
      'key_missing',
      `${file} is missing, and without it the database cannot be read; put the key back from your safe copy`,
    )
  }
  // A container engine makes a directory where the file to mount is missing. Reading a pipe or a device may never end.
  if (!statSync(file).isFile())
    throw new StartRefusal(
      'key_wrong',
      `${file} is ${isDirectory(file) ? 'a directory' : 'not a file'}; put the key itself in its place`,
    )
  const remedy = modeRemedy({ file, isGiven })
  if (remedy) throw new StartRefusal('key_readable_by_others', `${file} can be read by others; run: ${remedy}`)
  const key = readFileSync(file)
  if (key.length !== KEY_BYTES)
    throw new StartRefusal('key_wrong', `${file} is not a ${KEY_BYTES} byte key; put the right one back`)
  return key
}

/** The command that closes a key to others; undefined when it is closed, or absent. */
function modeRemedy({ file, isGiven }: MasterKey): string | undefined {
  const mode = process.platform === 'win32' ? 0 : (statSync(file, { throwIfNoEntry: false })?.mode ?? 0)
  if (!(mode & FORBIDDEN_MODE[isGiven ? 'given' : 'own'])) return undefined
  return `chmod ${isGiven ? '640' : '600'} ${file}`
}

/** Written beside the master key; adoptNewKey() renames it. */
export function writeNewKey(keyFile: string, random: Random): Uint8Array {
  if (isDirectory(newKeyOf(keyFile)))
    throw new StartRefusal('directory_unusable', `${newKeyOf(keyFile)} is a directory, and a new key needs this name; remove it`)
  // Left over from a kill.
  rmSync(newKeyOf(keyFile), { force: true })
  const key = random(KEY_BYTES)
  const handle = openSync(newKeyOf(keyFile), 'wx', 0o600)
  writeSync(handle, key)
  fsyncSync(handle)
  closeSync(handle)
  giveToOwner(newKeyOf(keyFile), keyFile)
  syncDirectory(dirname(keyFile))
  return key
}

export function adoptNewKey(keyFile: string): void {
  try {
    renameSync(newKeyOf(keyFile), keyFile)
  } catch (error) {
    // Another process was faster.
    if ((error as { code?: string }).code !== 'ENOENT') throw error
  }
  syncDirectory(dirname(keyFile))
}

export const newRootKey = (wrapper: Sealer, random: Random): Buffer => wrapRootKey(wrapper, keyringOf(random(KEY_BYTES)))

export function wrapRootKey(wrapper: Sealer, { epoch, rows, kept, base, begun }: Keyring): Buffer {
  const written: WrittenKeyring = {
    epoch,
    rows: [...rows].map(encoded),
    kept: [...kept].map(encoded),
    base: base.toString('base64'),
    begun,
  }
  return wrapper.seal(SEALED.rootKey, JSON.stringify(written))
}

type Entry<Name> = [name: Name, key: string]
type WrittenKeyring = { epoch: number; rows: Entry<number>[]; kept: Entry<string>[]; base: string; begun: readonly number[] }

const encoded = <Name>([name, key]: [Name, Buffer]): Entry<Name> => [name, key.toString('base64')]
const decoded = <Name>([name, key]: Entry<Name>): [Name, Buffer] => [name, Buffer.from(key, 'base64')]

function readKeyring(text: string): Keyring {
  const { epoch, rows, kept, base, begun }: WrittenKeyring = JSON.parse(text)
  return { epoch, rows: new Map(rows.map(decoded)), kept: new Map(kept.map(decoded)), base: Buffer.from(base, 'base64'), begun }
}

/** Wrapped; undefined in a new database. */
export async function findRootKey(db: Db): Promise<Uint8Array | undefined> {
  const [row] = await db.select().from(installation).where(eq(installation.name, 'root_key'))
  return row?.value
}

/** Two processes that start at once both use the key that was stored first. */
export async function insertRootKey(tx: Db, wrapped: Buffer): Promise<void> {
  await tx.insert(installation).values({ name: 'root_key', value: wrapped }).onConflictDoNothing({ target: installation.name })
}

export async function replaceRootKey(tx: Db, wrapped: Buffer): Promise<void> {
  await tx.update(installation).set({ value: wrapped }).where(eq(installation.name, 'root_key'))
}

export function openRootKey(wrapper: Sealer, wrapped: Uint8Array): Keyring {
  try {
    return readKeyring(wrapper.open(SEALED.rootKey, wrapped))
  } catch (error) {
    throw new StartRefusal('key_wrong', 'master.key does not belong to this database; put the right one back', error)
  }
}

export function makeDirectory(dir: string, setting?: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    // An existing directory keeps its mode; keys and database inside are 0600 anyway.
  } catch (error) {
    throw unusable(dir, (error as { code?: string }).code ?? 'unknown', error, setting)
  }
}

/** The master key of a first start; its directory is made too. */
export function createKey(keyFile: string, random: Random, dataDir: string): void {
  const setting = resolve(dirname(keyFile)) === resolve(dataDir) ? undefined : 'VIDIMUS_KEY_DIR'
  makeDirectory(dirname(keyFile), setting)
  try {
    writeNewKey(keyFile, random)
    adoptNewKey(keyFile)
  } catch (error) {
    const { code } = error as { code?: unknown }
    throw typeof code === 'string' ? unusable(dirname(keyFile), code, error, setting) : error
  }
}

export function checkMasterKey({ masterKey }: { masterKey: MasterKey }): EngineFinding {
  const { file, isGiven } = masterKey
  if (!existsSync(file)) return problem('key_missing', { file })
  const remedy = modeRemedy(masterKey)
  return remedy ? problem('key_readable', { file, remedy }) : ok('key_private', { isGiven })
}
