import { isIP } from '../base/ip.ts'
import { contains, isLoopback, type Network, parseCidr } from '../egress/addresses.ts'

const HOPS_MAX = 20
const IPV4_MAPPED = '00000000000000000000ffff'

/** The socket's peer, or behind trusted proxies the right-most address of X-Forwarded-For that is not one of them. */
export function clientAddress(peer: string, forwardedFor: string | null, trustedProxies: readonly Network[]): string {
  if (!forwardedFor || !contains(trustedProxies, peer)) return peer
  // Hops are read from the right: the client can write anything further left.
  const hops = forwardedFor
    .split(',')
    .slice(-HOPS_MAX)
    .map(hop => withoutPort(hop.trim()))
  const client = hops.findLast(hop => !contains(trustedProxies, hop))
  return client && isIP(client) ? client : peer
}

/** Some proxies add the port. A bare IPv6 address has none: its last group would be taken for one. */
function withoutPort(hop: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(hop) ?? []
  return bracketed !== undefined && isIP(bracketed) === 6 ? bracketed : (plain ?? hop)
}

/** One client for rate limits: an IPv4 address, or the /64 of an IPv6 customer. */
export function addressBucket(address: string): string {
  if (!address.includes(':')) return address
  const hex = Buffer.from(parseCidr(address)?.bytes ?? []).toString('hex')
  return hex.startsWith(IPV4_MAPPED) ? [...Buffer.from(hex.slice(24), 'hex')].join('.') : hex.slice(0, 16)
}

/** Headers by which proxies and CDNs name the client, beside all that begin `X-Forwarded`. */
const FORWARDING_HEADERS = new Set([
  'forwarded',
  'via',
  'cf-connecting-ip',
  'fly-client-ip',
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-real-ip',
])

/** A proxy on this machine connects from loopback for all clients; any of these headers, even an empty one, indicates one. */
const isForwarded = ({ headers }: Request): boolean =>
  headers.keys().some(name => name.startsWith('x-forwarded') || FORWARDING_HEADERS.has(name))

/** True for a client on this machine. What somebody forwarded never counts, whatever address it names. */
export const isFromLoopback = (request: Request, address: string): boolean => isLoopback(address) && !isForwarded(request)
