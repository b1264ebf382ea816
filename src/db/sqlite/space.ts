// A full disk must not prevent erasure, which needs room too. So a file is kept only to be deleted then.

import { rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Random } from '../../base/ids.ts'
import { describeFailure, type Log } from '../../base/log.ts'
import { sizeOf } from '../database-file.ts'
import type { Space } from '../engine.ts'

export const BALLAST_BYTES = 32 * 1024 * 1024
const BLOCK_BYTES = 1024 * 1024
/** Below this the log warns; above it the reserve is created again. */
export const ROOMY_BYTES = 256 * 1024 * 1024

const ballastIn = (dir: string): string => join(dir, 'ballast')

export function watchSpace({ dir, random, log }: { dir: string; random: Random; log: Log }): Space {
  const ballast = ballastIn(dir)
  let isShort = false
  let timesFull = 0
  let isWarned = false
  const hasBallast = () => sizeOf(ballast) >= BALLAST_BYTES
  const free = () => {
    const { bavail, bsize } = statfsSync(dir)
    return bavail * bsize
  }

  function becomeShort(): void {
    if (isShort) return
    isShort = true
    log.error('disk.full', { detail: 'nothing new is created until there are 256 MiB free' })
  }

  return {
    isShort: () => isShort,
    free,
    hasBallast,
    makeRoom() {
      const mayHelp = !isShort || sizeOf(ballast) > 0
      timesFull++
      becomeShort()
      rmSync(ballast, { force: true })
      return mayHelp
    },
    async look() {
      const bytes = free()
      if (bytes > ROOMY_BYTES) {
        const before = timesFull
        if (!hasBallast()) await holdBack(ballast, random)
        // The disk became full meanwhile: the first reading is outdated.
        if (timesFull !== before) return
        if (isShort) log.info('disk.room_again')
        isShort = false
        isWarned = false
        return
      }
      if (!hasBallast() && bytes < BALLAST_BYTES) becomeShort()
      if (!isWarned) log.warn('disk.low', { detail: `${Math.floor(bytes / BLOCK_BYTES)} MiB free` })
      isWarned = true
    },
  }

  async function holdBack(file: string, random: Random): Promise<void> {
    // Random bytes: a sparse or compressed file would reserve nothing.
    const block = random(BLOCK_BYTES)
    const handle = await open(file, 'w', 0o600)
    try {
      for (let written = 0; written < BALLAST_BYTES; written += block.length) await handle.write(block)
      await handle.sync()
    } catch (error) {
      rmSync(file, { force: true })
      log.warn('disk.nothing_held_back', { failure: describeFailure(error) })
    } finally {
      await handle.close()
    }
  }
}
