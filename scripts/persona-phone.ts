// A phone that is read in person and decides as its persona does, for scripts and tests.
import { PERSONAS } from '../src/sandbox/personas.ts'
import { createPhone, type EngagementOptions, type Phone, readStatus } from '../src/sandbox/phone/phone.ts'
import type { AnswerOptions, Holder } from '../src/sandbox/wallet/wallet.ts'

export type HolderPhone = Phone & {
  /** Answers a SessionEstablishment; a status of the reader ends the session. */
  receive: (message: Uint8Array) => Promise<Uint8Array | undefined>
  /** The status that the reader sent. */
  ended: number | undefined
}

export type PhoneOptions = EngagementOptions & Pick<AnswerOptions, 'accept' | 'mutations'>

export async function phoneOf(holder: Holder, { accept, mutations, ...options }: PhoneOptions = {}): Promise<HolderPhone> {
  const phone: HolderPhone = { ...(await createPhone(options)), receive, ended: undefined }
  async function receive(message: Uint8Array) {
    phone.ended = readStatus(message)
    if (phone.ended !== undefined) return undefined
    const request = await phone.open(message)
    return PERSONAS[holder.persona].declines ? request.decline() : await request.answer(holder, { accept, mutations })
  }
  return phone
}
