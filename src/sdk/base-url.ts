/**
 * The base URL without a trailing slash. Over plain http everybody on the way could read the key,
 * so http is only for this machine, private addresses, and names that the public internet does not
 * have (one word, as in a compose file, `.local`, `.internal` and the like).
 */
export function checkedBaseUrl(text: string): string {
  if (!URL.canParse(text)) throw new TypeError('baseUrl: give the address of the service, as in https://verify.example')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new TypeError('baseUrl: use https')
  if (url.protocol === 'http:' && !isPrivate(url.hostname))
    throw new TypeError('baseUrl: use https. Plain http is for this machine and for private networks.')
  if (url.username || url.password || url.search || url.hash)
    throw new TypeError('baseUrl: give it without user name, query and fragment')
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

// The URL parser has normalised every spelling of an IPv4 address.
const PRIVATE_HOSTS = [
  /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\.[\d.]+$/,
  /^\[(::1|f[cd][0-9a-f:]+)\]$/,
  /^[a-z0-9_-]+$/,
  /\.(localhost|local|internal|lan|home\.arpa)$/,
]

const isPrivate = (hostname: string): boolean => PRIVATE_HOSTS.some(pattern => pattern.test(hostname))
