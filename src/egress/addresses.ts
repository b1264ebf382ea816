// Addresses are judged as bytes, never as text: one address has many spellings and only its bytes
// are compared. IPv4 is public unless a list below refuses it; IPv6 is refused unless it is global
// unicast and no list refuses it. An operator can open single private destinations, but never
// link-local, multicast, unspecified or the cloud agent.

import { isIP } from '../base/ip.ts'

export type Network = { bytes: Uint8Array; prefix: number }
export type AllowedDestination = { address: string; prefix: number; port: number }

const ALLOWED_DESTINATIONS_MAX = 32
const ALLOWED_IPV4_PREFIX_MIN = 24
const ALLOWED_IPV6_PREFIX_MIN = 64

// IANA IPv4 Special-Purpose Address Registry (RFC 6890), multicast, and 168.63.129.16: a cloud agent on a public address.
const REFUSED_IPV4 = networks(
  `0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 168.63.129.16/32, 169.254.0.0/16, 172.16.0.0/12, 192.0.0.0/24,
   192.0.2.0/24, 192.31.196.0/24, 192.52.193.0/24, 192.88.99.0/24, 192.168.0.0/16, 192.175.48.0/24, 198.18.0.0/15,
   198.51.100.0/24, 203.0.113.0/24, 224.0.0.0/4, 240.0.0.0/4`,
)

// RFC 4291 § 2.4. What lies outside is loopback, mapped, NAT64, discard, unique-local, link-local or multicast.
const GLOBAL_UNICAST_IPV6 = networks('2000::/3')

// IANA IPv6 Special-Purpose Address Registry: protocol assignments with Teredo, documentation, 6to4 and AS112.
const REFUSED_IPV6 = networks('2001::/23, 2001:db8::/32, 2002::/16, 2620:4f:8000::/48, 3fff::/20')

const LOOPBACK = networks('127.0.0.0/8, ::1')
const PRIVATE = networks('10.0.0.0/8, 127.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, ::1, fc00::/7')
const UNIQUE_LOCAL_IPV6 = networks('fc00::/7')
const NEVER_ALLOWED_IPV4 = networks('0.0.0.0/8, 168.63.129.16, 169.254.0.0/16, 224.0.0.0/4, 255.255.255.255')

/** Reads `ADDRESS-OR-CIDR:PORT, …`, with IPv6 in brackets. Throws on the first invalid entry. */
export function parseAllowList(text: string): AllowedDestination[] {
  const entries = listEntries(text)
  if (entries.length > ALLOWED_DESTINATIONS_MAX) {
    throw new Error(`The list has ${entries.length} entries, and at most ${ALLOWED_DESTINATIONS_MAX} can be allowed.`)
  }
  return entries.map(parseAllowedDestination)
}

/** A forbidden entry matches nothing, even if it is in the list. */
export function isAllowed(allow: readonly AllowedDestination[], address: string, port: number): boolean {
  return allow.some(entry => {
    if (entry.port !== port) return false
    const network = parseCidr(`${entry.address}/${entry.prefix}`)
    return network !== undefined && !allowanceFault(network) && inCidr(address, network)
  })
}

export function isPublicAddress(address: string): boolean {
  const bytes = parseAddress(address)
  return bytes !== undefined && isPublic(bytes)
}

/** RFC 6761, 6762, 7686, 8375, and the private-use top-level domain that ICANN reserved. */
const SPECIAL_USE_NAMES = ['localhost', 'local', 'internal', 'home.arpa', 'onion']

/** True for a name that means something else on every machine or network. */
export function isSpecialUseName(host: string): boolean {
  return SPECIAL_USE_NAMES.some(name => host === name || host.endsWith(`.${name}`))
}

/** True for a name that resolves alike everywhere: no address, and more than one label. */
export function isPublicName(host: string): boolean {
  return isIP(host) === 0 && !host.startsWith('[') && host.includes('.') && !isSpecialUseName(host)
}

export function isLoopback(address: string): boolean {
  return contains(LOOPBACK(), address)
}

/** Loopback, RFC 1918 and unique-local: addresses that no public network routes. */
export function isPrivateAddress(address: string): boolean {
  return contains(PRIVATE(), address)
}

export function isSameAddress(one: string, other: string): boolean {
  const bytes = parseAddress(one)
  return bytes !== undefined && contains([{ bytes: unmapped(bytes), prefix: bitsOf(unmapped(bytes)) }], other)
}

/** Reads plain addresses and CIDRs, comma separated. Throws on the first one that is neither. */
export function parseNetworks(text: string): Network[] {
  return listEntries(text).map(entry => {
    const network = parseCidr(entry)
    if (!network) throw new Error(`'${entry}' is not an address or a network: write it like 10.0.0.1, 10.0.0.0/8 or fd00::/8.`)
    return unmappedNetwork(network)
  })
}

/** An IPv4 peer that a dual-stack socket names `::ffff:10.0.0.1` is compared with IPv4 networks. */
export function contains(networks: readonly Network[], address: string): boolean {
  const bytes = parseAddress(address)
  return bytes !== undefined && isInAny(unmapped(bytes), networks)
}

/** Parsed when they are first asked for: the start of the service needs none of them. */
function networks(text: string): () => readonly Network[] {
  let parsed: Network[] | undefined
  return () => {
    parsed ??= parseNetworks(text)
    return parsed
  }
}

/** A plain address is the network of that one address. Bits behind the prefix are ignored. */
export function parseCidr(text: string): Network | undefined {
  const [, address = '', digits] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const bytes = parseAddress(address)
  if (!bytes) return undefined
  const prefix = digits === undefined ? bitsOf(bytes) : Number(digits)
  return prefix <= bitsOf(bytes) ? { bytes, prefix } : undefined
}

export function inCidr(address: string, cidr: Network): boolean {
  const bytes = parseAddress(address)
  return bytes !== undefined && isWithin(bytes, cidr)
}

/** Four or sixteen bytes; none for an address with a zone, which depends on the machine. */
function parseAddress(text: string): Uint8Array | undefined {
  if (isIP(text) === 4) return Uint8Array.from(ipv4Bytes(text))
  if (isIP(text) === 6 && !text.includes('%')) return Uint8Array.from(ipv6Bytes(text))
  return undefined
}

function listEntries(text: string): string[] {
  return text
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '')
}

function parseAllowedDestination(entry: string): AllowedDestination {
  const [, ipv6, ipv4 = '', digits] = /^(?:\[([^[\]]+)\]|([^:[\]]+)):([1-9]\d{0,4})$/.exec(entry) ?? []
  const port = Number(digits)
  const network = parseCidr(ipv6 ?? ipv4)
  // Brackets and family must agree, as in a URL: `[10.0.0.1]:80` is refused.
  if (!network || !(port <= 65535) || (network.bytes.length === 16) !== (ipv6 !== undefined)) {
    throw new Error(`'${entry}' is not ADDRESS:PORT or CIDR:PORT: write it like 192.168.10.20:8443 or [fd00::1]:8443.`)
  }
  const fault = allowanceFault(network)
  if (fault) throw new Error(`'${entry}' cannot be allowed: ${fault}.`)
  return { address: (ipv6 ?? ipv4).replace(/\/.*/, ''), prefix: network.prefix, port }
}

function allowanceFault(network: Network): string | undefined {
  return network.bytes.length === 4 ? ipv4AllowanceFault(network) : ipv6AllowanceFault(network)
}

function ipv4AllowanceFault(network: Network): string | undefined {
  if (network.prefix < ALLOWED_IPV4_PREFIX_MIN) return `an IPv4 network must be /${ALLOWED_IPV4_PREFIX_MIN} or smaller`
  if (NEVER_ALLOWED_IPV4().some(never => overlap(network, never))) {
    return 'unspecified, link-local, multicast and broadcast addresses and 168.63.129.16 stay closed'
  }
  if (isInAny(network.bytes, LOOPBACK()) && network.prefix < 32) return 'a loopback destination must be one exact address'
  return undefined
}

// A closed list instead of exceptions, because mapped, NAT64 and 6to4 addresses could carry a link-local IPv4 one inside.
function ipv6AllowanceFault({ bytes, prefix }: Network): string | undefined {
  if (prefix < ALLOWED_IPV6_PREFIX_MIN) return `an IPv6 network must be /${ALLOWED_IPV6_PREFIX_MIN} or smaller`
  if (isInAny(bytes, LOOPBACK()) && prefix === 128) return undefined
  if (isInAny(bytes, UNIQUE_LOCAL_IPV6()) || isPublic(bytes)) return undefined
  return 'of IPv6 only unique-local (fc00::/7) and public addresses and exactly ::1 can be opened'
}

function overlap(one: Network, other: Network): boolean {
  return isWithin(one.bytes, other) || isWithin(other.bytes, one)
}

function isPublic(bytes: Uint8Array): boolean {
  if (bytes.length === 4) return !isInAny(bytes, REFUSED_IPV4())
  return isInAny(bytes, GLOBAL_UNICAST_IPV6()) && !isInAny(bytes, REFUSED_IPV6())
}

function isInAny(bytes: Uint8Array, networks: readonly Network[]): boolean {
  return networks.some(network => isWithin(bytes, network))
}

function isWithin(bytes: Uint8Array, network: Network): boolean {
  if (bytes.length !== network.bytes.length) return false
  return bytes.every((byte, index) => ((byte ^ network.bytes[index]!) & byteMask(network.prefix - 8 * index)) === 0)
}

function byteMask(leadingBits: number): number {
  return (0xff00 >> Math.min(Math.max(leadingBits, 0), 8)) & 0xff
}

function unmappedNetwork(network: Network): Network {
  const bytes = unmapped(network.bytes)
  const prefix = network.prefix - bitsOf(network.bytes) + bitsOf(bytes)
  return prefix < 0 ? network : { bytes, prefix }
}

// RFC 4291 § 2.5.5.2: ::ffff:0:0/96 carries an IPv4 address in its last four bytes.
function unmapped(bytes: Uint8Array): Uint8Array {
  const isMapped =
    bytes.length === 16 && bytes.subarray(0, 10).every(byte => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff
  return isMapped ? bytes.subarray(12) : bytes
}

function bitsOf(bytes: Uint8Array): number {
  return bytes.length * 8
}

function ipv4Bytes(text: string): number[] {
  return text.split('.').map(Number)
}

function ipv6Bytes(text: string): number[] {
  const [head = '', tail = ''] = text.split('::')
  const front = ipv6Groups(head)
  const back = ipv6Groups(tail)
  const gap = new Array<number>(16 - front.length - back.length).fill(0)
  return [...front, ...gap, ...back]
}

function ipv6Groups(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap(group => {
    if (group.includes('.')) return ipv4Bytes(group)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}
