import { closeSync, openSync, readSync } from 'node:fs'
import { CommandError } from './output.ts'

const FILE_BYTES_MAX = 256 * 1024

export const readPemFile = (file: string): string => readTextFile(file, 'PEM file')

/** `what` it has to be, for the error. */
export const readTextFile = (file: string, what: string): string =>
  Buffer.from(readGivenFile(file, what, FILE_BYTES_MAX)).toString('utf8')

export function readGivenFile(file: string, what: string, bytesMax: number): Uint8Array {
  // One byte more than allowed is enough to refuse a file: a device may have no end.
  const bytes = readBeginning(file, what, bytesMax + 1)
  if (bytes.length > bytesMax)
    throw new CommandError(`${file} is larger than ${bytesMax / 1024} KiB; shorten it, or give another`)
  return bytes
}

/** Pipes are read too, though their size is not known before. */
export function readBeginning(file: string, what: string, bytesMax: number): Uint8Array {
  const bytes = new Uint8Array(bytesMax)
  let handle: number | undefined
  try {
    handle = openSync(file, 'r')
    let length = 0
    let read: number
    do {
      read = readSync(handle, bytes, length, bytes.length - length, null)
      length += read
    } while (read > 0)
    return bytes.subarray(0, length)
  } catch {
    throw new CommandError(`cannot read ${file}; give the path of a ${what}`)
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}
