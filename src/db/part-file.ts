// A file that is written under another name, and renamed when it is whole. A lock beside it shows that somebody writes it: its name
// alone does not, as processes of two containers may have the same number.
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Random } from '../base/ids.ts'
import { sizeOf } from './database-file.ts'
import { StartRefusal } from './refusal.ts'
import { holdFile, removeUnheld } from './sqlite/locks.ts'

const LOCK = '-lock'
export const PART_NAME_BYTES = 4
/** Another process may take a new lock for one that was left over, but hardly twice. */
const TRIES_MAX = 10

/** A name beside the target for this process alone, until it is released. First removes what killed processes left. */
export function holdPart(target: string, random: Random): { part: string; release: () => void } {
  removeParts(target)
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const part = `${target}.${Buffer.from(random(PART_NAME_BYTES)).toString('hex')}.part`
    const release = holdFile(part + LOCK)
    if (release) return { part, release }
  }
  throw new StartRefusal('directory_unusable', `files in ${dirname(target)} cannot be locked; choose a directory on another disk`)
}

/** Parts that nobody holds. Those of other targets have a lock. */
const removeParts = (target: string): void => removeUnheldParts(dirname(target), name => partOf(name, basename(target)))

/** Parts of any target in a folder that is ours alone, left by killed processes. */
export const removeAllParts = (folder: string, targets: RegExp): void =>
  removeUnheldParts(folder, name =>
    targets.test(name) ? /^.+\.[\da-f]{8}\.part(?=(?:-journal|-lock)?$)/.exec(name)?.[0] : undefined,
  )

function removeUnheldParts(folder: string, partIn: (name: string) => string | undefined): void {
  const parts = readdirSync(folder).flatMap(name => partIn(name) ?? [])
  for (const part of new Set(parts.map(name => join(folder, name)))) {
    // A file with content is somebody else's.
    if (sizeOf(part + LOCK) > 0 || !removeUnheld(part + LOCK)) continue
    for (const file of [part, `${part}-journal`]) rmSync(file, { force: true })
  }
}

function partOf(name: string, target: string): string | undefined {
  const [, held] = /^(.+\.[\da-f]{8}\.part)-lock$/.exec(name) ?? []
  if (held !== undefined || !name.startsWith(target)) return held
  const [ending] = /^\.[\da-f]{8}\.part(?=(?:-journal)?$)/.exec(name.slice(target.length)) ?? []
  return ending && target + ending
}
