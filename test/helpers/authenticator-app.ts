// An app that shows one-time codes, as it reads its secret from a QR code.
import { codeOfStep } from '../../src/people/factors/one-time-code.ts'

export const STEP_MS = 30_000

export function bytesOf(base32: string): Uint8Array {
  const bits = [...base32].map(each => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(each).toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], byte => Number.parseInt(byte, 2))
}

export const codeAt = (secret: string, ms: number): Promise<string> => codeOfStep(bytesOf(secret), Math.floor(ms / STEP_MS))
