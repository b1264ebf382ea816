import { type Call, type CallOptions, idPath, newKey, type Transport } from './transport.ts'
import { waitFor } from './wait.ts'
import type { CreateVerification, ErasureResult, ListQuery, Verification } from './wire.ts'

/** Sends a call in the name of whoever holds the client. */
export type Send = <Body>(call: Call) => Promise<Body>

export type CreateOptions = CallOptions & {
  /** Yours, to repeat a creation even after a crash: the same key and body within 24 hours give the same session. One is made if none is given. */
  idempotencyKey?: string
}

/** `pageUrl` is the page of the service to send the holder to. */
export type CreatedVerification = Verification & { pageUrl: string }

/** What a till may do. */
export type TillVerifications = {
  /** Made exactly once, however often it had to be sent: all attempts carry one Idempotency-Key. */
  create(body: CreateVerification, options?: CreateOptions): Promise<CreatedVerification>
  get(id: string, options?: CallOptions): Promise<Verification>
  /** One page, newest first; `before` is the `created_at` of the last one seen. */
  list(query?: ListQuery, options?: CallOptions): Promise<{ data: Verification[] }>
  /** Every session, newest first, page by page: `for await (const verification of vidimus.verifications.all())`. */
  all(query?: ListQuery, options?: CallOptions): AsyncGenerator<Verification, void, undefined>
  /**
   * The verification once it has ended. Look at its `status`: `completed`, `failed` and `expired` all resolve. It follows the events of the service
   * and polls where those do not come through, and it outlasts a restart of the service.
   *
   * @throws {@link VidimusError} `still_pending` after `timeoutMs`, which is longer than any session lives unless given
   */
  wait(id: string, options?: CallOptions): Promise<Verification>
  /**
   * Ends a session that no wallet has answered: it becomes `failed` with the error `cancelled`. A repeat gives the same answer, so it is repeated when
   * an answer is lost.
   *
   * @throws {@link VidimusError} `session_already_responded` when an answer came first, `session_expired` when its time was over
   */
  cancel(id: string, options?: CallOptions): Promise<Verification>
  /**
   * Exchanges the code of a redirect for the result, once. A code is spent by its first use, and a second gets the same `invalid_response_code` as a
   * forged one. So an attempt whose answer was lost is never repeated: its repeat would make an honest shopper look like a forger. Then this throws with
   * `maybeDone`, and nothing is proven: start a new session. Only a 429, which spends nothing, is tried again.
   */
  redeem(id: string, responseCode: string, options?: CallOptions): Promise<Verification>
}

export type Verifications = TillVerifications & {
  /**
   * Erases a session with all that is known of it, for good; needs the scope `verifications:delete`. It is repeated when an answer is lost. Then the
   * repeat may find nothing: that throws `session_not_found` with `maybeDone`. Nothing is there any more, but nobody can tell you what was deleted,
   * nor that there was anything.
   */
  erase(id: string, options?: CallOptions): Promise<ErasureResult>
}

const PATH = '/v1/verifications'
const PAGE_MAX = 100

export function tillVerifications(transport: Transport, send: Send): TillVerifications {
  const get = async (id: string, options: CallOptions = {}) =>
    await send<Verification>({ ...options, path: idPath(PATH, id), isRepeatable: true })
  const list = async (query: ListQuery = {}, options: CallOptions = {}) =>
    await send<{ data: Verification[] }>({ ...options, path: `${PATH}${queryString(query)}`, isRepeatable: true })

  return {
    get,
    list,
    create: async (body, { idempotencyKey = newKey(), ...options } = {}) =>
      await send({
        ...options,
        method: 'POST',
        path: PATH,
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
      await send({ ...options, method: 'POST', path: idPath(PATH, id, '/cancel'), isRepeatable: true }),
    redeem: async (id, responseCode, options = {}) =>
      await send({ ...options, method: 'POST', path: idPath(PATH, id, '/redeem'), body: { response_code: responseCode } }),
  }
}

export const verifications = (transport: Transport, send: Send): Verifications => ({
  ...tillVerifications(transport, send),
  erase: async (id, options = {}) => await send({ ...options, method: 'DELETE', path: idPath(PATH, id), isRepeatable: true }),
})

/** From the Link header: the service knows the name under which a browser reaches it. */
const pageIn = (headers: Headers): string | undefined => /<(https?:[^<>]+)>; rel="alternate"/.exec(headers.get('link') ?? '')?.[1]

function queryString({ limit, before }: ListQuery): string {
  const query = new URLSearchParams()
  if (limit !== undefined) query.set('limit', String(limit))
  if (before !== undefined) query.set('before', before)
  return query.size ? `?${query}` : ''
}

// One that no header can carry would look like a service that is out of reach.
function checkedKey(idempotencyKey: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) return idempotencyKey
  throw new TypeError('idempotencyKey: give 1 to 255 printable ASCII characters without spaces')
}
