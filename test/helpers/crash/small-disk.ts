import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../app.ts'

const run = (...command: string[]): boolean => Bun.spawnSync(command, { stdout: 'ignore', stderr: 'ignore' }).success

const mounted = new Set<string>()

/** For the afterAll of every file that mounts. */
export function unmountAll(): void {
  for (const dir of mounted) run('umount', '-l', dir)
}

export type SmallDisk = { dir: string; resize: (bytes: number) => void; makeReadOnly: () => void }

/** A disk of a given size in memory; undefined where nobody may mount one. */
export function smallDisk(bytes: number): SmallDisk | undefined {
  const dir = join(temporaryDir(), 'disk')
  mkdirSync(dir)
  if (!run('mount', '-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', dir)) return undefined
  mounted.add(dir)
  return {
    dir,
    resize(size) {
      if (!run('mount', '-o', `remount,size=${size}`, dir)) throw new Error('the disk could not be resized')
    },
    makeReadOnly() {
      if (!run('mount', '-o', 'remount,ro', dir)) throw new Error('the disk stayed writable')
    },
  }
}

/** Makes files unchangeable, even by who has them open; false where that cannot be done. */
export const freeze = (paths: string[]): boolean => run('chattr', '+i', ...paths)

export const thaw = (paths: string[]): boolean => run('chattr', '-i', ...paths)
