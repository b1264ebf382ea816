import { contains, type Network, parseCidr } from '../egress/addresses.ts'
import { isIP } from '../ip.ts'

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

const FORWARDING_HEADERS = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via']

/** A proxy on this machine connects from loopback for all clients; each of these headers indicates one. */
export const isForwarded = ({ headers }: Request): boolean => FORWARDING_HEADERS.some(name => headers.has(name))
