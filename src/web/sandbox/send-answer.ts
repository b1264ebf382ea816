import { mergedName } from '../../openid4vp/merge-claims.ts'
import {
  type Answered,
  answer,
  type Credential,
  decline,
  type Holder,
  post,
  readPresentation,
  type Shown,
  selectCredentials,
} from '../../sandbox/wallet/wallet.ts'
import type { HostedVerification } from '../../verifications/schema.ts'
import { fetchHere, now, type OpenedRequest, readSession, type Service } from './open-request.ts'

/** `names`: of the claims that were asked for, as the shop reads them. */
export type SentDocument = Shown & Pick<Credential, 'format' | 'type'> & { names?: string[] }

export type Sent = {
  /** Empty when the holder declined. */
  documents: SentDocument[]
  isEncrypted: boolean
  /** Characters of the form that went out. */
  length: number
  answered: Answered
  /** The public state of the session; none if the service refused the answer. */
  session: HostedVerification | undefined
}

type Sending = { holder: Holder; service: Service; isShared: boolean }

export async function sendAnswer(asked: OpenedRequest, { holder, service, isShared }: Sending): Promise<Sent> {
  const { request } = asked
  const presentations = new Map<string, string>()
  const presentation = (text: string, id: string) => {
    presentations.set(id, text)
    return text
  }
  const response = isShared
    ? await answer(request, holder, { now: now(service), mutations: { presentation } })
    : await decline(request)
  const answered = await post(response, fetchHere(service))
  const selected = selectCredentials(request.query, holder.credentials) ?? []
  const documents = await Promise.all(
    selected
      .filter(({ id }) => presentations.has(id))

      .map(async ({ id, credential: { format, type }, places }) => ({
        format,
        type,
        names: places.map(place => mergedName(format, place)),
        ...(await readPresentation(format, presentations.get(id) ?? '')),
      })),
  )
  return {
    documents,
    isEncrypted: request.encryption !== undefined,
    length: response.form.toString().length,
    answered,
    // Perhaps erased since; the answer is shown all the same.
    session: answered.status === 200 ? await readSession(asked.session.id).catch(() => undefined) : undefined,
  }
}
