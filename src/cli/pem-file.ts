import { readBeginning } from '../base/read-beginning.ts'
import { CommandError } from './output.ts'

const FILE_BYTES_MAX = 256 * 1024

export const readPemFile = (file: string): string => readTextFile(file, 'PEM file')

/** `what` it has to be, for the error. */
export const readTextFile = (file: string, what: string): string =>
  Buffer.from(readGivenFile(file, what, FILE_BYTES_MAX)).toString('utf8')

/** One byte more than allowed is enough to refuse a file. */
export function readGivenFile(file: string, what: string, bytesMax: number): Uint8Array {
  const bytes = readGivenBeginning(file, what, bytesMax + 1)
  if (bytes.length > bytesMax)
    throw new CommandError(`${file} is larger than ${bytesMax / 1024} KiB; shorten it, or give another`)
  return bytes
}

export function readGivenBeginning(file: string, what: string, bytesMax: number): Uint8Array {
  try {
    return readBeginning(file, bytesMax)
  } catch {
    throw new CommandError(`cannot read ${file}; give the path of a ${what}`)
  }
}
