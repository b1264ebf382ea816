import file from '../../src/sdk/webhook-vectors.json'

type Body = {
  payload?: string
  payload_base64?: string
  payload_parts?: { before: string; repeat: string; times: number; after: string }
}

export type VerifyVector = Body & {
  group: string
  name: string
  header: string | null
  secrets: string[]
  tolerance?: number
  now: number
  expect: string
}
type SignVector = Body & { name: string; secrets: string[]; timestamp: number; header: string }
type StandardVector = Body & { name: string; id: string; secrets: string[]; timestamp: number; signature: string }

export const verifyVectors: VerifyVector[] = file.verify
export const signVectors: SignVector[] = file.sign
export const standardVectors: StandardVector[] = file.standard

export function bodyOf({ payload, payload_base64, payload_parts: parts }: Body): Uint8Array {
  if (payload !== undefined) return Buffer.from(payload)
  if (payload_base64 !== undefined) return Buffer.from(payload_base64, 'base64')
  if (parts) return Buffer.from(parts.before + parts.repeat.repeat(parts.times) + parts.after)
  throw new Error('a vector has a body')
}
