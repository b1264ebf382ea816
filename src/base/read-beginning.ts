import { closeSync, openSync, readSync } from 'node:fs'

/** At most `bytesMax` bytes of a file, pipe or device: a device may have no end. Throws when it cannot be read. */
export function readBeginning(file: string, bytesMax: number): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(bytesMax)
    let length = 0
    let read: number
    do {
      read = readSync(descriptor, buffer, length, bytesMax - length, null)
      length += read
    } while (read > 0)
    return buffer.subarray(0, length)
  } finally {
    closeSync(descriptor)
  }
}
