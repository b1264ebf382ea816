import { closeSync, openSync, readSync } from 'node:fs'

/** At most `bytesMax` bytes of a file, which may grow meanwhile. Throws when it cannot be read. */
export function readBeginning(file: string, bytesMax: number): string {
  const descriptor = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(bytesMax)
    return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, bytesMax, 0))
  } finally {
    closeSync(descriptor)
  }
}
