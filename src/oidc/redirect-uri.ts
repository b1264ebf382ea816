// Redirect addresses are compared as text (RFC 9700 § 2.1). Only the port of a loopback address may be another one, where none
// was registered (RFC 8252 § 7.3).
import { redirectProblem } from '../verifications/redirect-url.ts'
import { REDIRECT_URI_CHARS_MAX } from './schema.ts'

/** RFC 3986, without a fragment. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[\w.~:/?[\]@!$&'()+,;=-]|%[0-9A-Fa-f]{2})+$/
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(:\d{1,5})?([/?].*)?$/

type Owner = { environment: 'test' | 'live'; auth: 'client_secret' | 'none'; appSchemes: readonly string[] }

/** The reason to refuse a registration. */
export function redirectUriProblem(text: string, { environment, auth, appSchemes }: Owner): string | undefined {
  if (text.length > REDIRECT_URI_CHARS_MAX) return `it is longer than ${REDIRECT_URI_CHARS_MAX} characters`
  if (text.includes('#')) return 'leave out the fragment'
  if (text.includes('*')) return 'leave out the *: addresses are compared as they are written'
  if (!URI.test(text) || !URL.canParse(text)) return 'it is not an absolute address; escape other characters'
  if (/^https?:/i.test(text) && !/^https?:\/\/[^/?@]/.test(text)) return 'it names no host, or its scheme is in capitals'
  const problem = redirectProblem(text, appSchemes)
  if (problem || text.startsWith('https:') || auth === 'none') return problem
  if (!text.startsWith('http:')) return 'an app cannot keep a secret; its client has "auth": "none"'
  return environment === 'live' && LOOPBACK.test(text) ? 'in live, an address on this machine is for "auth": "none"' : undefined
}

export const isRegistered = (registered: readonly string[], given: string): boolean =>
  registered.some(each => each === given || isItsLoopback(each, given))

function isItsLoopback(registered: string, given: string): boolean {
  const [, host, port, rest = ''] = LOOPBACK.exec(registered) ?? []
  const [, givenHost, givenPort, givenRest = ''] = LOOPBACK.exec(given) ?? []
  if (host === undefined || port !== undefined || host !== givenHost || rest !== givenRest) return false
  return givenPort === undefined || Number(givenPort.slice(1)) <= 65_535
}
