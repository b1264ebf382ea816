// The files of wrapping keys. A file is complete before it has its name, and its name is durable before
// the key is used. A destroyed key is overwritten first: on some disks that is all that can be done.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../base/ids.ts'
import { isoUtc } from '../base/time.ts'
import { giveToOwner, publish, syncDirectory } from '../db/files.ts'
import { StartRefusal } from '../db/refusal.ts'

const KEY_BYTES = 32
const NAME = /^wrapping-(\d{1,9})\.key$/
const TEXT = /^vidimus wrapping key (\d{1,9}) of ([0-9a-f]{16}), made (\S{24})\n([A-Za-z0-9+/]{43}=)\n$/
/** A group may read it, as with a shared volume; nobody else may, and only the owner writes. */
const FORBIDDEN_MODE = 0o037

/** `isOwn`: it has the newest name of the installation. */
type WrappingKeyFile = { id: number; createdAt: number; key: Buffer; isOwn: boolean }

export const fileOf = (dir: string, id: number): string => join(dir, `wrapping-${id}.key`)

/** Numbers of all files, in order; those of another installation too. */
export function listFiles(dir: string): number[] {
  if (!existsSync(dir)) return []
  const ids = readdirSync(dir).flatMap(name => NAME.exec(name)?.[1] ?? [])
  return ids.map(Number).sort((one, other) => one - other)
}

/** Undefined when it is missing, unreadable, or of another installation. */
export function readKeyFile(dir: string, id: number, names: readonly string[]): WrappingKeyFile | undefined {
  try {
    // Reading a pipe may never end.
    if (!statSync(fileOf(dir, id)).isFile()) return undefined
    const [, number, owner, madeAt, key] = TEXT.exec(readFileSync(fileOf(dir, id), 'utf8')) ?? []
    if (Number(number) !== id || owner === undefined || !names.includes(owner)) return undefined
    return { id, createdAt: Date.parse(madeAt!), key: Buffer.from(key!, 'base64'), isOwn: owner === names.at(-1) }
  } catch {
    return undefined
  }
}

type NewKey = { id: number; installation: string; createdAt: number; random: Random }

export function writeKeyFile(dir: string, { id, installation, createdAt, random }: NewKey): void {
  const file = fileOf(dir, id)
  const part = `${file}.part`
  // Left over from a kill.
  rmSync(part, { force: true })
  const key = Buffer.from(random(KEY_BYTES)).toString('base64')
  const text = `vidimus wrapping key ${id} of ${installation}, made ${isoUtc(createdAt)}\n${key}\n`
  writeFileSync(part, text, { mode: 0o600, flag: 'wx' })
  giveToOwner(part)
  publish(part, file)
}

export function destroyKeyFile(dir: string, id: number, random: Random): void {
  const file = fileOf(dir, id)
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) return
  const handle = openSync(file, 'r+')
  writeSync(handle, random(size))
  fsyncSync(handle)
  closeSync(handle)
  rmSync(file)
  syncDirectory(dir)
}

export function refuseOpenFile(dir: string, id: number): void {
  const file = fileOf(dir, id)
  if (isOpenFile(file)) throw new StartRefusal('key_readable_by_others', `${file} can be read by others; run: chmod 600 ${file}`)
}

/** True for a file that is there, and that this user may not read. */
export function isClosedFile(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return false
  } catch (error) {
    return (error as { code?: string }).code === 'EACCES'
  }
}

export function isOpenFile(file: string): boolean {
  const mode = process.platform === 'win32' ? 0 : (statSync(file, { throwIfNoEntry: false })?.mode ?? 0)
  return (mode & FORBIDDEN_MODE) !== 0
}
