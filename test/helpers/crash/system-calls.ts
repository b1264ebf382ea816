// Results of system calls, changed by strace: for conditions that a test cannot create on its machine.
import { canTrace } from './kill-at.ts'

/** Runs a program so that it keeps the process id that it is spawned with. */
export const injecting = (call: string, what: string): string[] => [
  'strace',
  '-D',
  '-f',
  '-o',
  '/dev/null',
  '-e',
  `trace=${call}`,
  '-e',
  `inject=${call}:${what}`,
]

/** Older versions of strace cannot change what a call has written into memory. */
export const canInject = canTrace && Bun.spawnSync([...injecting('statfs', 'poke_exit=@arg2=00'), 'true']).success

export const titled = (title: string): string => (canInject ? title : `SKIPPED, because strace is not here or too old: ${title}`)
