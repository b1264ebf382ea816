import { readFileSync } from 'node:fs'
import { CommandError } from './output.ts'

const FILE_CHARS_MAX = 256 * 1024

export function readPemFile(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new CommandError(`cannot read ${file}; give the path of a PEM file`)
  }
  if (text.length > FILE_CHARS_MAX) throw new CommandError(`${file} is larger than ${FILE_CHARS_MAX / 1024} KiB`)
  return text
}
