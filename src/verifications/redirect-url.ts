import { isPrivateAddress, isSpecialUseName } from '../egress/addresses.ts'
import { isTaken } from '../tenants/app-schemes.ts'

/** The reason to refuse a redirect_url: it must lead to a web page or an app of the tenant. */
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

/**
 * Private addresses, and names that only a local network resolves (.local, .internal, .home.arpa).
 * A single label may be public.
 */
const isLocal = (host: string): boolean => isSpecialUseName(host) || isPrivateAddress(host.replace(/^\[|\]$/g, ''))

/** Replaces the fragment. The rest of the URL stays as the merchant wrote it. */
export const withResponseCode = (url: string, code: string): string => `${url.split('#', 1)[0]}#response_code=${code}`
