import type { DcAnswer } from './browser.ts'
import { VidimusError } from './error.ts'
import { type Call, type CallOptions, idPath, newKey, type Transport } from './transport.ts'
import { waitFor } from './wait.ts'
import type {
  Comparison,
  CreateVerification,
  DcAnswered,
  DcRequests,
  DcServerRequest,
  ErasureResult,
  ListQuery,
  Verification,
} from './wire.ts'

/** Sends a call with the credentials of the client. */
export type Send = <Body>(call: Call) => Promise<Body>

export type CreateOptions = CallOptions & {
  /**
   * Your own key, to repeat a creation even after a crash: the same key and body within 24 hours
   * return the same session. By default one is generated.
   */
  idempotencyKey?: string
}

/** `pageUrl` is the hosted page for the holder. */
export type CreatedVerification = Verification & { pageUrl: string }

/** Calls of a till, and of a server. */
export type CommonVerifications = {
  /** Creates exactly one session: all attempts carry the same Idempotency-Key. */
  create(body: CreateVerification, options?: CreateOptions): Promise<CreatedVerification>
  get(id: string, options?: CallOptions): Promise<Verification>
  /** One page, newest first; `before` is the `created_at` of the last one seen. */
  list(query?: ListQuery, options?: CallOptions): Promise<{ data: Verification[] }>
  /** Every session, newest first, page by page: `for await (const verification of vidimus.verifications.all())`. */
  all(query?: ListQuery, options?: CallOptions): AsyncGenerator<Verification, void, undefined>
  /**
   * Resolves with the verification once it has ended. Check its `status`: `completed`, `failed` and `expired` all
   * resolve. It follows the events of the service, polls where a proxy blocks them, and survives a restart of the
   * service. An answer to a till that waits for the comparison of its photo has not ended: call `get` until
   * `responded_at` is set, or `comparison` until it is no longer 404, and then `compare`.
   *
   * @throws {@link VidimusError} `still_pending` after `timeoutMs`; the default is longer than any session lives
   */
  wait(id: string, options?: CallOptions): Promise<Verification>
  /**
   * Ends a session that no wallet has answered: it becomes `failed` with the error `cancelled`. It is repeated when a
   * response is lost, with the same result.
   *
   * @throws {@link VidimusError} `session_already_responded` when a wallet was faster, `session_expired` when it has expired
   */
  cancel(id: string, options?: CallOptions): Promise<Verification>
  /**
   * Exchanges the code of a redirect for the result, once. A second use gets the same
   * `invalid_response_code` as a forged code, so an attempt whose response was lost is never
   * repeated: an honest shopper would look like a forger. Then this throws with `maybeDone`, and
   * nothing is proven: start a new session. Only a 429, which does not use the code, is tried
   * again.
   */
  redeem(id: string, responseCode: string, options?: CallOptions): Promise<Verification>
}

/** Calls of a till. */
export type TillVerifications = CommonVerifications & {
  /**
   * The photo that somebody has to compare with the customer: a good answer with a portrait to a session of this till
   * is held, and its status is `pending`, until `compare` or for two minutes.
   *
   * @throws {@link VidimusError} `session_not_found` before a wallet has answered, `session_already_responded` once it has ended
   */
  comparison(id: string, options?: CallOptions): Promise<Comparison>
  /**
   * Says whether the customer is the person on the photo, and gives the verification as it ended: `completed`, or
   * `failed` with `not_same_person`. Accept only after `completed`. It is repeated when a response is lost, and then
   * gives the outcome that was recorded.
   *
   * @throws {@link VidimusError} `session_already_responded` when it was decided before, or too late
   */
  compare(id: string, isSamePerson: boolean, options?: CallOptions): Promise<Verification>
}

export type Verifications = CommonVerifications & {
  /**
   * The requests for `navigator.credentials.get`, fetched by your server for a page or app that does not reach the
   * service. `origin` is that of the page or app, one of those that the shop has listed.
   */
  dcRequest(id: string, body: DcServerRequest, options?: CallOptions): Promise<DcRequests>
  /**
   * Hands in the answer of that page or app. It is never repeated, because a second answer is refused. After a lost
   * response it throws with `maybeDone`: `get` shows whether the answer arrived.
   */
  dcRespond(id: string, body: DcAnswer & { origin: string }, options?: CallOptions): Promise<DcAnswered>
  /**
   * Erases a session permanently; needs the scope `verifications:delete`. It is repeated when a
   * response is lost. The repeat may then find nothing and throw `session_not_found` with
   * `maybeDone`: the session is gone, but it is unknown what was deleted, or whether it existed.
   */
  erase(id: string, options?: CallOptions): Promise<ErasureResult>
}

const PATH = '/v1/verifications'
const PAGE_MAX = 100

function commonVerifications(transport: Transport, send: Send): CommonVerifications {
  const get = async (id: string, options: CallOptions = {}) =>
    await send<Verification>({ ...options, path: idPath(PATH, id), field: 'status', isRepeatable: true })
  const list = async (query: ListQuery = {}, options: CallOptions = {}) =>
    await send<{ data: Verification[] }>({ ...options, path: `${PATH}${queryString(query)}`, field: 'data', isRepeatable: true })

  return {
    get,
    list,
    create: async (body, { idempotencyKey = newKey(), ...options } = {}) =>
      await send({
        ...options,
        method: 'POST',
        path: PATH,
        field: 'id',
        body,
        idempotencyKey: checkedKey(idempotencyKey),
        isRepeatable: true,
        complete: (created, { headers, base }) => ({
          ...created,
          pageUrl: pageIn(headers) ?? `${base}/v/${(created as Verification).id}`,
        }),
      }),
    async *all({ limit = PAGE_MAX, before } = {}, options) {
      for (let bound = before; ; ) {
        const { data } = await list({ limit, before: bound }, options)
        yield* data
        bound = data.at(-1)?.created_at
        if (data.length < limit || bound === undefined) return
      }
    },
    wait: async (id, options = {}) => await waitFor({ transport, get }, id, options),
    cancel: async (id, options = {}) =>
      await send({ ...options, method: 'POST', path: idPath(PATH, id, '/cancel'), field: 'status', isRepeatable: true }),
    redeem: async (id, responseCode, options = {}) =>
      await send({
        ...options,
        method: 'POST',
        path: idPath(PATH, id, '/redeem'),
        field: 'status',
        body: { response_code: responseCode },
      }),
  }
}

export function tillVerifications(transport: Transport, send: Send): TillVerifications {
  const common = commonVerifications(transport, send)
  return {
    ...common,
    comparison: async (id, options = {}) =>
      await send({ ...options, path: idPath(PATH, id, '/comparison'), field: 'portrait', isRepeatable: true }),
    async compare(id, isSamePerson, options = {}) {
      try {
        return await send<Verification>({
          ...options,
          method: 'POST',
          path: idPath(PATH, id, '/comparison'),
          field: 'status',
          body: { same_person: isSamePerson },
          isRepeatable: true,
        })
      } catch (error) {
        // The first attempt may have been the decision.
        if (error instanceof VidimusError && error.code === 'session_already_responded' && error.maybeDone)
          return await common.get(id, options)
        throw error
      }
    },
  }
}

export const verifications = (transport: Transport, send: Send): Verifications => ({
  ...commonVerifications(transport, send),
  dcRequest: async (id, body, options = {}) =>
    await send({
      ...options,
      method: 'POST',
      path: idPath(PATH, id, '/dc-request'),
      field: 'requests',
      body,
      isRepeatable: true,
    }),
  dcRespond: async (id, body, options = {}) =>
    await send({ ...options, method: 'POST', path: idPath(PATH, id, '/dc-response'), field: 'status', body }),
  erase: async (id, options = {}) =>
    await send({ ...options, method: 'DELETE', path: idPath(PATH, id), field: 'deleted', isRepeatable: true }),
})

/** From the Link header: the service knows its public address. */
const pageIn = (headers: Headers): string | undefined => /<(https?:[^<>]+)>; rel="alternate"/.exec(headers.get('link') ?? '')?.[1]

function queryString({ limit, before }: ListQuery): string {
  const query = new URLSearchParams()
  if (limit !== undefined) query.set('limit', String(limit))
  if (before !== undefined) query.set('before', before)
  return query.size ? `?${query}` : ''
}

// A key that no header can carry would look like an unreachable service.
function checkedKey(idempotencyKey: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) return idempotencyKey
  throw new TypeError('idempotencyKey: give 1 to 255 printable ASCII characters without spaces')
}
