import { databaseFile, sizeOf } from '../db/files.ts'
import { hireThread } from '../threads.ts'
import { type Found, ok, problem, warning, within } from './check.ts'
import type { Soundness } from './integrity-worker.ts'
import type { Scene } from './scene.ts'

const READING_MS_MAX = 4000
const MIB_BYTES = 1024 * 1024
/** More is not even begun: a thread that reads cannot be interrupted, and what it reads cannot be taken out of the log meanwhile. */
const SIZE_BYTES_MAX = 512 * MIB_BYTES

/** In a thread of its own, on a connection of its own: it reads every page, and the service must not wait for that. */
export async function checkDatabase({ deps }: Scene): Promise<Found> {
  const file = databaseFile(deps.config.dataDir)
  if (sizeOf(file) > SIZE_BYTES_MAX) return found('late', file)
  const worker = hireThread('doctor/integrity-worker')
  try {
    const told = new Promise<Soundness>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<Soundness>) => resolve(data))
      worker.addEventListener('error', event => {
        // Without it a failure in the thread would be one of ours.
        event.preventDefault()
        reject(new Error('the thread failed'))
      })
    })
    worker.postMessage(file)
    return found(await within<Soundness | 'late'>(READING_MS_MAX, told, () => 'late'), file)
  } finally {
    worker.terminate()
  }
}

function found(soundness: Soundness | 'late', file: string): Found {
  if (soundness === 'sound') return ok(`The database is whole (${Math.ceil(sizeOf(file) / MIB_BYTES)} MiB).`)
  if (soundness === 'late')
    return warning(
      'The database is too large to be read through in the few seconds of this check.',
      'Let "vidimus backup FILE" check every page of a copy.',
    )
  return problem('The database is damaged.', 'Stop the service, and put a backup in its place with "vidimus restore".')
}
