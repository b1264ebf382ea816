// A phone that is read in person (ISO/IEC 18013-5 device retrieval): it shows a code, opens what a reader sends, and answers. Radio
// is not its business. It shares no code with the verifier, so that an error of one is not an error of both.
import { type Cbor, cborMap, decodeCbor, encodeCbor, Tag } from '../cbor.ts'
import type { Credential, Holder } from '../credential.ts'
import { PERSONAS } from '../personas.ts'
import { chooseDocuments, readDeviceRequest } from '../wallet/device-request.ts'
import { presentDocuments } from '../wallet/mdoc.ts'
import { checkReaders } from '../wallet/reader.ts'
import { demand, RequestRefused } from '../wallet/request.ts'
import type { AnswerOptions } from '../wallet/wallet.ts'
import { readCurveKey } from './curves.ts'
import { type EngagementOptions, makeEngagement } from './engagement.ts'
import { decrypt, encrypt, saltOf, sessionKeys, sessionTranscript } from './session.ts'

export type { EngagementOptions } from './engagement.ts'

/** Status of SessionData: what a phone says that has no answer. */
const STATUS = { encryptionError: 10, decodingError: 11, termination: 20 } as const

export type Phone = Awaited<ReturnType<typeof createPhone>>

/** A checked request of a reader. */
export type InPersonRequest = Awaited<ReturnType<Phone['open']>>

export async function createPhone(options: EngagementOptions = {}) {
  const { code, bytes, service, key } = await makeEngagement(options)

  /** Takes a SessionEstablishment. */
  async function open(message: Uint8Array) {
    const { readerKeyBytes, data } = readEstablishment(message)
    const readerKey = readCurveKey(decodeCbor(readerKeyBytes))
    demand(readerKey.crv === key.crv, 'the key of the reader is on another curve than that of the code')
    const transcript = sessionTranscript(bytes, readerKeyBytes)
    const keys = await sessionKeys(key, readerKey, await saltOf(transcript))
    const plaintext = await decrypt(keys, 'reader', data).catch(() => {
      throw new RequestRefused('the request was not encrypted for this session', STATUS.encryptionError)
    })
    const request = readDeviceRequest(plaintext)
    return {
      ...request,
      /** Names in the certificates that signed; none of an unknown reader. */
      readers: await checkReaders(request, transcript),
      /** What would be shared; undefined if no credential answers the request. */
      select: (credentials: readonly Credential[]) => chooseDocuments(request, credentials),
      /** SessionData. */
      async answer(holder: Holder, { accept, mutations: more }: Pick<AnswerOptions, 'accept' | 'mutations'> = {}) {
        const mutations = { ...PERSONAS[holder.persona].cheat, ...more }
        const [otherCode = bytes, otherReaderKey = readerKeyBytes, handover] = mutations.transcriptParts ?? []
        const signed = sessionTranscript(otherCode, otherReaderKey, handover)
        const chosen = chooseDocuments(request, accept ? holder.credentials.filter(accept) : holder.credentials)
        const response = await presentDocuments(chosen ?? [], { holder, transcript: signed, mutations })
        const seal = mutations.seal ?? (() => encrypt(keys, 'device', response))
        const members = cborMap({ data: await seal(response, { key, readerKey, transcript: signed, keys }) })
        return encodeCbor(mutations.sessionData?.(members) ?? members)
      },
      decline: () => statusMessage(STATUS.termination),
    }
  }

  return { code, engagement: bytes, service, open }
}

/** What a reader is told whose request is refused. */
export const refusalOf = (error: RequestRefused): Uint8Array<ArrayBuffer> => statusMessage(error.status)

const statusMessage = (status: number): Uint8Array<ArrayBuffer> => encodeCbor(cborMap({ status }))

/** Of a SessionData without data. */
export function readStatus(message: Uint8Array): number | undefined {
  const members = membersOf(message)
  const status = members.get('status')
  return members.has('data') || typeof status !== 'number' ? undefined : status
}

function readEstablishment(message: Uint8Array): { readerKeyBytes: Uint8Array; data: Uint8Array } {
  const members = membersOf(message)
  const [tagged, data] = [members.get('eReaderKey'), members.get('data')]
  demand([...members.keys()].join() === 'eReaderKey,data', 'the SessionEstablishment has other members than eReaderKey and data')
  demand(tagged instanceof Tag && tagged.tag === 24 && tagged.value instanceof Uint8Array, 'eReaderKey lacks tag 24')
  demand(data instanceof Uint8Array, 'data is no byte string')
  return { readerKeyBytes: tagged.value, data }
}

function membersOf(message: Uint8Array): ReadonlyMap<string, Cbor> {
  try {
    const members = decodeCbor(message)
    if (members instanceof Map) return members
  } catch {
    // Told below, like any other message that is no map.
  }
  throw new RequestRefused('the message is no CBOR map', STATUS.decodingError)
}
