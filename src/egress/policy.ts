// A call may only go to an http(s) URL whose every resolved address is public or opened by the
// operator. The URL is judged as parsed, and its host by all of its addresses: one refused address
// refuses the whole destination. Our own listener is never a destination. The caller must connect
// to one of the returned addresses, not resolve again.

import { isIP } from '../base/ip.ts'
import { type AllowedDestination, isAllowed, isLoopback, isPublicAddress, isSameAddress, isSpecialUseName } from './addresses.ts'
import type { ExtraCa } from './authorities.ts'

/** All A and AAAA records of a name; rejects when there are none. The caller bounds its time. Look-ups are limited per tenant. */
export type Resolve = (host: string, tenantId?: string) => Promise<string[]>

/** `listener.addresses` are those of every interface when the service listens on all of them. */
export type EgressPolicy = {
  allow: readonly AllowedDestination[]
  listener: { addresses: readonly string[]; port: number }
  /** Opens this machine except our own listener, for lists of a developer's own issuer. */
  loopback?: boolean
  extraCa?: ExtraCa
}

export type RefusalReason =
  | 'length'
  | 'syntax'
  | 'scheme'
  | 'credentials'
  | 'fragment'
  | 'host'
  | 'port'
  | 'address'
  | 'unresolvable'
  | 'plain_http'

export type Refusal = { ok: false; reason: RefusalReason; detail: string }
type Destination = { url: URL; addresses: string[] }

const URL_CHARS_MAX = 2048
const HOST_CHARS_MAX = 253
const QUOTED_CHARS_MAX = 100
const OTHERWISE =
  'or ask the operator of this service to allow its address and port; for development, "vidimus listen" forwards results to your machine'
const PLAIN_HTTP =
  'Results of live sessions are sent over https only: begin the URL with https://. For a receiver inside your own network, the operator of this service can allow its address and port.'

// Labels of letters, digits, hyphens and underscores, none of them empty (RFC 1035 § 2.3.4: 63 each).
const NAME = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/

// The bad ports of the Fetch standard above 1023.
const FETCH_BAD_PORTS = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]
// Databases, container engines and cluster agents that act on an unauthenticated request.
const CONTROL_PORTS = [2375, 2379, 3306, 5432, 5984, 6379, 6443, 9042, 9200, 10250, 11211, 27017]
const REFUSED_PORTS = new Set([...FETCH_BAD_PORTS, ...CONTROL_PORTS])

export async function checkDestination(
  policy: EgressPolicy,
  resolve: Resolve,
  text: string,
): Promise<{ ok: true; destination: Destination } | Refusal> {
  if (text.length > URL_CHARS_MAX) return refuse('length', `The URL is longer than ${URL_CHARS_MAX} characters: shorten it.`)
  const url = URL.parse(text)
  if (!url) return refuse('syntax', 'This is not a complete URL: write it like https://shop.example.com/webhooks.')

  const host = hostOf(url)
  const port = portOf(url)
  const refusal = urlRefusal(url) ?? hostRefusal(policy, host, port) ?? portRefusal(policy, port)
  if (refusal) return refusal

  const addresses = isAddress(host) ? [host] : await addressesOf(resolve, host)
  if (addresses.length === 0) {
    return refuse('unresolvable', `${quoted(host)} was not found in the DNS: check the spelling, or publish the name first.`)
  }
  const refused = addresses.map(address => addressRefusal(policy, { host, address, port })).find(found => found !== undefined)
  return refused ?? { ok: true, destination: { url: withoutFinalDot(url), addresses } }
}

/** Results of live sessions need https, unless the operator opened the receiver. */
export async function checkWebhookUrl(
  policy: EgressPolicy,
  resolve: Resolve,
  text: string,
  environment: 'test' | 'live',
): Promise<{ ok: true; destination: Destination } | Refusal> {
  const checked = await checkDestination(policy, resolve, text)
  const url = URL.parse(text)
  if (environment === 'test' || url?.protocol !== 'http:') return checked
  const mayBeOpened = checked.ok
    ? checked.destination.addresses.every(address => isAllowed(policy.allow, address, portOf(url)))
    : checked.reason !== 'unresolvable' || isPortOpened(policy, portOf(url))
  return mayBeOpened ? checked : refuse('plain_http', PLAIN_HTTP)
}

function refuse(reason: RefusalReason, detail: string): Refusal {
  return { ok: false, reason, detail }
}

function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname.replace(/\.$/, '')
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}

function urlRefusal(url: URL): Refusal | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refuse('scheme', `${quoted(url.protocol)} cannot be called: begin the URL with https:// or http://.`)
  }
  if (url.username !== '' || url.password !== '') {
    return refuse('credentials', 'The URL carries a user name or a password: leave both out.')
  }
  // Not `url.hash`, which is empty for a bare `#`.
  if (url.href.includes('#')) {
    return refuse('fragment', 'The URL has a fragment, which is never sent: leave out the # and what follows.')
  }
  return undefined
}

function hostRefusal(policy: EgressPolicy, host: string, port: number): Refusal | undefined {
  if (isAddress(host)) return undefined
  const isName = host.length <= HOST_CHARS_MAX && NAME.test(host)
  // Its addresses decide: some may be open.
  if (isName && isInsideName(host) && (policy.loopback || isPortOpened(policy, port))) return undefined
  if (isSpecialUseName(host)) return insideName(host)
  if (!isName || !host.includes('.')) {
    return refuse('host', `${quoted(host)} is not a full host name: use one like shop.example.com, or an IP address.`)
  }
  return undefined
}

function isInsideName(host: string): boolean {
  return isSpecialUseName(host) || (!isAddress(host) && !host.includes('.'))
}

function insideName(host: string): Refusal {
  return refuse('host', `${quoted(host)} is a name for use inside one network: use a public host name, ${OTHERWISE}.`)
}

function portRefusal(policy: EgressPolicy, port: number): Refusal | undefined {
  return isUsualPort(port) || isPortOpened(policy, port) ? undefined : unusualPort(port)
}

function isPortOpened({ allow }: EgressPolicy, port: number): boolean {
  return allow.some(entry => entry.port === port)
}

async function addressesOf(resolve: Resolve, host: string): Promise<string[]> {
  try {
    return await resolve(host)
  } catch {
    // Every error of the resolver counts as no address for now; each delivery resolves again.
    return []
  }
}

function addressRefusal(policy: EgressPolicy, to: { host: string; address: string; port: number }): Refusal | undefined {
  // One text without the address for every case: it must reveal neither a private name's address nor our own.
  const closed = refuse('address', `${quoted(to.host)} does not lead to the public internet: use a public server, ${OTHERWISE}.`)
  if (isOwnListener(policy, to.address, to.port)) return closed
  if (isAllowed(policy.allow, to.address, to.port)) return undefined
  if (!isUsualPort(to.port)) return unusualPort(to.port)
  if (policy.loopback && isLoopback(to.address)) return undefined
  // Every network has its own meaning of such a name: a public address may be the wrong one.
  if (isInsideName(to.host)) return insideName(to.host)
  return isPublicAddress(to.address) ? undefined : closed
}

// A listener on all interfaces answers on all of 127.0.0.0/8, so loopback with our port is taken to be us.
function isOwnListener({ listener }: EgressPolicy, address: string, port: number): boolean {
  return port === listener.port && (isLoopback(address) || listener.addresses.some(own => isSameAddress(own, address)))
}

function isUsualPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && !REFUSED_PORTS.has(port))
}

function unusualPort(port: number): Refusal {
  return refuse('port', `Port ${port} cannot be called: use 443, 80, or one from 1024 up that belongs to no other service.`)
}

// A certificate carries the name without the dot.
function withoutFinalDot(url: URL): URL {
  const copy = new URL(url)
  if (copy.hostname.endsWith('.')) copy.hostname = copy.hostname.slice(0, -1)
  return copy
}

function isAddress(host: string): boolean {
  return isIP(host) !== 0
}

function quoted(text: string): string {
  return `'${text.length > QUOTED_CHARS_MAX ? `${text.slice(0, QUOTED_CHARS_MAX - 1)}…` : text}'`
}
