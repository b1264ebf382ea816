import { readFileSync } from 'node:fs'
import { CommandError } from './output.ts'

const FILE_CHARS_MAX = 256 * 1024

export const readPemFile = (file: string): string => readTextFile(file, 'PEM file')

/** `what` it has to be, for the error. */
export function readTextFile(file: string, what: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new CommandError(`cannot read ${file}; give the path of a ${what}`)
  }
  if (text.length > FILE_CHARS_MAX) throw new CommandError(`${file} is larger than ${FILE_CHARS_MAX / 1024} KiB`)
  return text
}
