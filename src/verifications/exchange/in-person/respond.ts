import { decodeBase64url } from '../../../base/base64url.ts'
import { readBody } from '../../../http/body.ts'
import { traceOf } from '../../../http/plugin.ts'
import { type DeviceAnswer, readDeviceResponse } from '../../../openid4vp/exchange/device-response.ts'
import { UnreadableResponse } from '../../../openid4vp/exchange/response.ts'
import {
  macKeyOf,
  openAnswer,
  readSessionData,
  SESSION_TERMINATION,
  sessionError,
  sessionTranscript,
} from '../../../proximity/session.ts'
import { type OpenSession, readOwnOpenSession } from '../../read.ts'
import { recordAnswer } from '../answer.ts'
import { askedOf, type Question } from '../asked.ts'
import type { Deps } from '../deps.ts'
import { judge, readOrRefuse } from '../settle.ts'
import { dropEntry, type Entry, openEntry } from './entry.ts'
import { type Judged, judgeInTurn } from './judge-in-turn.ts'
import type { Door } from './request.ts'
import { type InPersonAnswered, PhoneMessage } from './schema.ts'

/** One long text. */
const BODY = { bytesMax: 1024 * 1024, valuesMax: 10 }
const MESSAGE_CHARS_MAX = 1_000_000

/** Takes what the phone sent to the caller: read, judge, record once. */
export async function inPersonRespond(deps: Deps, { id, caller, request }: Door): Promise<InPersonAnswered> {
  const { id: requestId } = traceOf(request)
  const session = await readOwnOpenSession(deps, caller, id)
  await deps.guesses.take('wallet-post', [id, caller.kind === 'key' ? caller.keyId : caller.deviceId].join(' '))
  const asked = await askedOf(deps, session)
  const { entry, answer, isEnded } = await readOrRefuse(deps, session, requestId, async () => {
    const { message } = await readBody(request, PhoneMessage, BODY)
    const entry = (await openEntry(deps, deps.db, session)) ?? refuse('no phone was asked')
    return { entry, ...(await readMessage(deps, entry, message, asked)) }
  })
  const end = isEnded ? {} : { message: Buffer.from(SESSION_TERMINATION).toString('base64url') }
  const count = (outcome: string) => deps.metrics.count('vidimus_in_person_answers_total', { outcome })
  if (answer.kind === 'error') {
    await dropEntry(deps, session, entry, answer.code)
    count('error')
    return { status: 'pending', wallet_error: answer.code, ...end }
  }
  const { outcome, dropped } = await judgeAnswer(deps, session, asked, { entry, answer })
  const way = { channel: 'in_person', engagement: 'qr', proof: outcome.proof, dropped: dropped || undefined } as const
  const { isComparable } = await recordAnswer(deps, session, { secrets: asked.secrets, outcome, way, requestId })
  count(outcome.status)
  return { status: isComparable ? 'pending' : outcome.status, ...end }
}

const refuse = (reason: UnreadableResponse['reason']): never => {
  throw new UnreadableResponse(reason)
}

/** `isEnded`: the phone ended the session in its own message. */
async function readMessage({ turns }: Deps, { skDevice, version }: Entry, message: string, { query }: Question) {
  if (message.length > MESSAGE_CHARS_MAX) refuse('the response is missing or too large')
  const bytes = decodeBase64url(message) ?? refuse('the response is not base64url without padding')
  const { data, status } = readSessionData(bytes) ?? refuse('the session message cannot be read')
  const read = async (): Promise<DeviceAnswer> => {
    if (!data) {
      const code = sessionError(status) ?? refuse('the session message has neither data nor a known status')
      return { kind: 'error', code }
    }
    const opened = openAnswer(Buffer.from(skDevice, 'base64url'), data) ?? refuse('the session message is of another session')
    return await readDeviceResponse(opened, { query, nextTurn: turns.next, isList: version === '1.0' })
  }
  return { answer: await read(), isEnded: status !== undefined }
}

type Answered = { entry: Entry; answer: Exclude<DeviceAnswer, { kind: 'error' }> }

async function judgeAnswer(deps: Deps, session: OpenSession, asked: Question, { entry, answer }: Answered): Promise<Judged> {
  const transcript = sessionTranscript(Buffer.from(entry.engagement, 'base64url'), entry.readerKey)
  // Key bindings have nonce and audience, and no SD-JWT is shown in person.
  const binding = { nonce: '', audience: '', transcript: () => transcript, macKey: macKeyOf(entry.readerKey, transcript) }
  const judgeOne = (each: Answered['answer']) => judge(deps, session, asked, each, binding)
  if (entry.version === '1.0' && answer.kind === 'presentations') return await judgeInTurn(asked.query, answer, judgeOne)
  return { outcome: await judgeOne(answer), dropped: 0 }
}
