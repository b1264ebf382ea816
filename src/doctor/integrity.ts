import { databaseFile, sizeOf } from '../db/sqlite/files.ts'
import { hireThread } from '../threads.ts'
import { within } from '../time.ts'
import { findUnreadable, type Reading } from '../verifications/unreadable.ts'
import { type Found, ok, problem, someOf, warning } from './check.ts'
import type { Soundness } from './integrity-worker.ts'
import type { Scene } from './scene.ts'

const READING_MS_MAX = 4000
const MIB_BYTES = 1024 * 1024
/** More is not even begun: a thread that reads cannot be interrupted, and what it reads cannot be taken out of the log meanwhile. */
const SIZE_BYTES_MAX = 512 * MIB_BYTES

/** Every page of it, and whether what is sealed of its verifications opens. */
export async function checkDatabase({ deps, tenants }: Scene): Promise<Found> {
  const file = databaseFile(deps.config.dataDir)
  const signal = AbortSignal.timeout(READING_MS_MAX)
  const ids = tenants.then(all => all.map(({ id }) => id))
  const reading = ids.then(all => findUnreadable(deps, all, signal))
  // On a damaged database it fails, and there is nothing more to say.
  reading.catch(() => {})
  const soundness = sizeOf(file) > SIZE_BYTES_MAX ? 'late' : await soundnessOf(file)
  return soundness === 'damaged' ? damaged() : found(soundness, file, await reading)
}

/** In a thread of its own, on a connection of its own: it reads every page, and the service must not wait for that. */
async function soundnessOf(file: string): Promise<Soundness | 'late'> {
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
    return await within<Soundness | 'late'>(READING_MS_MAX, told, () => 'late')
  } finally {
    worker.terminate()
  }
}

const damaged = (): Found =>
  problem('The database is damaged.', 'Stop the service, and put a backup in its place with "vidimus restore".')

function found(soundness: 'sound' | 'late', file: string, { unreadable, looked, isComplete }: Reading): Found {
  if (unreadable.length > 0)
    return problem(
      `What is sealed of these verifications cannot be opened any more, and lists that hold them fail: ${someOf(unreadable)}.`,
      'Erase them; or stop the service, and put a backup in its place with "vidimus restore".',
    )
  if (soundness === 'late')
    return warning(
      'The database is too large to be read through in the few seconds of this check.',
      'Let "vidimus backup FILE" check every page of a copy.',
    )
  const opened = isComplete ? 'every verification' : `the ${looked} verifications that there was time for`
  return ok(`The database is whole (${Math.ceil(sizeOf(file) / MIB_BYTES)} MiB), and ${opened} can be read.`)
}
