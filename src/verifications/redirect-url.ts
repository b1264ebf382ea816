import { isPrivateAddress, isSpecialUseName } from '../egress/addresses.ts'
import { isTaken } from '../tenants/app-schemes.ts'

/** The problem of a redirect_url: it leads to a web page, or to an app of the tenant, and carries no user information. */
export function redirectProblem(text: string, appSchemes: readonly string[]): string | undefined {
  const url = new URL(text)
  const scheme = url.protocol.slice(0, -1)
  if (/^[^:]+:\/\/[^/?#]*@/.test(text)) return 'leave out the user name and password before the @'
  if (scheme === 'https') return undefined
  if (scheme === 'http') return isLocal(url.hostname) ? undefined : 'use https; http is for localhost and private addresses only'
  if (isTaken(scheme))
    return `the scheme "${scheme}" does not lead back to a shop or its app; use https, or your app's own scheme`
  if (scheme.includes('.') || appSchemes.includes(scheme)) return undefined
  return (
    `the scheme "${scheme.slice(0, 40)}" is not one of your app; use https, a scheme with a dot such as com.example.shop:, ` +
    'or let the operator list it with "vidimus tenant set ID --app-scheme NAME"'
  )
}

/** Names that only a local network resolves (.local, .internal, .home.arpa) stand for private addresses; a single label may be public. */
const isLocal = (host: string): boolean => isSpecialUseName(host) || isPrivateAddress(host.replace(/^\[|\]$/g, ''))

/** An existing fragment is replaced. The URL is the merchant's own text otherwise, to the letter. */
export const withResponseCode = (url: string, code: string): string => `${url.split('#', 1)[0]}#response_code=${code}`
