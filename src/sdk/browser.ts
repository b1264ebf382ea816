/**
 * Asks the customer's wallet through the browser's own wallet call (W3C Digital Credentials), on a page of the shop. It
 * runs in the page, holds no key and never sees a claim: the answer is encrypted to the service.
 *
 * @example
 * ```ts
 * // When the page opens: a tap allows the wallet call for a few seconds only.
 * const prepared = await prefetch('https://verify.example', sessionId)
 * if (!prepared) showLinkOrCode()
 * else
 *   button.onclick = async () => {
 *     const answer = await ask(prepared, AbortSignal.timeout(300_000))
 *     const { response_code } = await send('https://verify.example', sessionId, answer)
 *     await fetch('/checked', { method: 'POST', body: response_code })
 *   }
 * ```
 *
 * @module
 */
export {
  ask,
  canAsk,
  type DcAnswer,
  type DcOutcome,
  type DcRequest,
  type Prepared,
  prefetch,
  Refused,
  send,
} from './wallet-call.ts'
