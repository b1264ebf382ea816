// What a till sends to the phone and to the service. The messages are encrypted: only the service can read them.
import type { InPersonAnswered, InPersonRequest } from '../../../verifications/exchange/in-person/schema.ts'
import { ApiFailure } from '../../shared/api.ts'
import { persist } from '../connection.ts'
import { keep, read } from '../memory.ts'
import { callTill } from '../tokens.ts'
import { reading as words } from './en.ts'
import { type Link, type Modem, startModem } from './modem.ts'
import { Fault, type FaultCode, type Problem, type Target, Unread } from './reading.ts'

const pathOf = (id: string, what: 'request' | 'response' | 'failure'): string =>
  `v1/verifications/${encodeURIComponent(id)}/in-person-${what}`

/** The request for the phone that shows this code. */
export async function prepare(id: string, engagement: string, signal: AbortSignal): Promise<Target> {
  const body = { engagement, transports: ['ble_peripheral_server'] }
  try {
    const request = () => callTill<InPersonRequest>(pathOf(id, 'request'), { method: 'POST', body, signal })
    const { message, transports } = await persist(request, signal, ({ status }) => status >= 500)
    const { service } = transports.find(({ type }) => type === 'ble_peripheral_server') ?? {}
    if (service === undefined) throw new Unread('engagement_not_supported')
    return { service, message: bytesOf(message) }
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
    throw new Unread(Object.hasOwn(words.problems, error.code) ? (error.code as Problem) : 'refused')
  }
}

type Exchange = { id: string; message: Uint8Array; signal: AbortSignal; onStep: (step: 'waiting' | 'sending') => void }

/** From the connection to the recorded answer. Nobody is connected afterwards. */
export async function exchange(link: Link, { id, message, signal, onStep }: Exchange): Promise<void> {
  if (signal.aborted) return link.close()
  let modem: Modem | undefined
  let sentAt: number | undefined
  const stop = () => (modem ? modem.end(TERMINATION) : link.close())
  signal.addEventListener('abort', stop, { once: true })
  try {
    modem = await startModem(link, chunkBytes())
    await Promise.race([modem.send(message), modem.received])
    sentAt = Date.now()
    onStep('waiting')
    const answer = await modem.received
    onStep('sending')
    const { wallet_error, message: last } = await handIn(id, answer, signal)
    await modem.end(last === undefined ? undefined : bytesOf(last))
    if (wallet_error === undefined) return
    if (MISREAD.includes(wallet_error)) keepChunksSmall()
    throw new Unread(wallet_error === 'session_terminated' ? 'closed' : 'nothing_shared')
  } catch (error) {
    if (error instanceof Fault && isOfSize(error, sentAt)) keepChunksSmall()
    if (!signal.aborted) await (modem ? modem.end() : link.close())
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** SessionData with the status 20 (session termination), ISO/IEC 18013-5. */
const TERMINATION = Uint8Array.of(0xa1, 0x66, ...new TextEncoder().encode('status'), 0x14)

/** Repeated until it is recorded, or the session is over. */
async function handIn(id: string, answer: Uint8Array, signal: AbortSignal): Promise<Partial<InPersonAnswered>> {
  const body = { message: textOf(answer) }
  try {
    return await persist(() => callTill<InPersonAnswered>(pathOf(id, 'response'), { method: 'POST', body, signal }), signal)
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
    if (error.status === 400) throw new Unread('unreadable')
    // Recorded before, perhaps by this very call, or over: the page is about to be told.
    return {}
  }
}

/** For the timeline. Sent once: it changes nothing. */
export const report = (id: string, code: FaultCode): void =>
  void callTill(pathOf(id, 'failure'), { method: 'POST', body: { code } }).catch(() => {})

/** Fits an MTU of 247: browsers do not tell theirs. */
const CHUNK_BYTES = 244
/** Fits any MTU. */
const SMALL_CHUNK_BYTES = 20
const SMALL_MS = 86_400_000
/** What a phone says that was sent a chunk cut short. */
const MISREAD: readonly string[] = ['session_encryption_error', 'cbor_decoding_error']
/** Or it leaves within this time. */
const DISGUST_MS = 3000

const chunkBytes = (): number => ((read('smallChunksUntil') ?? 0) > Date.now() ? SMALL_CHUNK_BYTES : CHUNK_BYTES)
const keepChunksSmall = (): void => keep('smallChunksUntil', Date.now() + SMALL_MS)

const isOfSize = ({ code }: Fault, sentAt = Number.NEGATIVE_INFINITY): boolean =>
  code === 'write_failed' || (code === 'lost' && Date.now() - sentAt < DISGUST_MS)

const bytesOf = (text: string): Uint8Array =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), letter => letter.charCodeAt(0))

const textOf = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
