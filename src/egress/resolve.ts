// Looks up names with c-ares, on the event loop. getaddrinfo would block a thread of the pool that signatures need too: a few
// names in zones that never answer would stop every exchange. Like getaddrinfo it reads /etc/hosts. It ignores the search domains
// of resolv.conf, because a URL must mean the same on every machine, and caches no addresses.
import { Resolver } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { isIP } from '../base/ip.ts'
import { Lru } from '../base/lru.ts'
import { readHosts } from './hosts-file.ts'
import type { Resolve } from './policy.ts'

/** Bun checks the timers of c-ares once a second, so the second try is sent after one second. */
const TRY = { timeout: 700, tries: 2 }
/** All three together are less than the two seconds that callers give a look-up. */
const LIMITS = {
  placeMs: 300,
  lookUpMs: 1400,
  /** Some networks drop AAAA queries: once one family has answered, the other gets this long. */
  otherFamilyMs: 200,
}
const PER_TENANT_MAX = 8
const FAILURE_KEPT_MS = 10_000
const FAILURES_MAX = 1000
const ADDRESSES_MAX = 64

export type ResolverOptions = {
  /** Name servers as ADDRESS:PORT. Default: /etc/resolv.conf, read for each look-up. */
  servers?: string[]
  hostsFile?: string
  now?: () => number
  hasIpv4?: () => boolean
  limits?: typeof LIMITS
}

export function createResolver({
  servers,
  hostsFile = '/etc/hosts',
  now = () => performance.now(),
  hasIpv4 = hasIpv4Interface,
  limits = LIMITS,
}: ResolverOptions = {}): Resolve {
  const hosts = readHosts(hostsFile)
  const failed = new Lru<{ until: number }>({ countMax: FAILURES_MAX })
  const underWay = new Map<string, Promise<string[]>>()
  const places = createPlaces(PER_TENANT_MAX, limits.placeMs)

  async function lookUp(name: string): Promise<string[]> {
    const { ipv4, ipv6 } = await ask(name, servers, limits)
    const found = ipv4.length > 0 && !hasIpv4() ? [...ipv6, ...ipv4] : [...ipv4, ...ipv6]
    if (found.length > 0 && found.length <= ADDRESSES_MAX) return found
    failed.set(name, { until: now() + FAILURE_KEPT_MS })
    throw new Error(found.length > 0 ? 'the name has too many addresses' : 'the name was not found')
  }

  /** Simultaneous callers share one look-up of a name. */
  function shareLookUp(name: string): Promise<string[]> {
    const shared = lookUp(name).finally(() => underWay.delete(name))
    underWay.set(name, shared)
    return shared
  }

  return async (host, tenantId = '') => {
    if (isIP(host) !== 0) return [host]
    const name = host.toLowerCase().replace(/\.$/, '')
    const local = hosts(name) ?? (isLocalhost(name) ? ['127.0.0.1', '::1'] : undefined)
    if (local) return local
    const failure = failed.get(name)
    if (failure && now() < failure.until) throw new Error('the name was not found a moment ago')
    const shared = underWay.get(name)
    if (shared) return await shared
    if (!(await places.enter(tenantId))) throw new Error('too many names are being looked up')
    try {
      return await (underWay.get(name) ?? shareLookUp(name))
    } finally {
      places.leave(tenantId)
    }
  }
}

/** RFC 6761 § 6.3: name servers are never asked for it. */
const isLocalhost = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost')

const hasIpv4Interface = (): boolean =>
  Object.values(networkInterfaces()).some(each => each?.some(({ family, internal }) => family === 'IPv4' && !internal))

/** A family that fails counts as empty: only addresses that were found are checked and called. */
async function ask(name: string, servers: string[] | undefined, { lookUpMs, otherFamilyMs }: typeof LIMITS) {
  const resolver = new Resolver(TRY)
  if (servers) resolver.setServers(servers)
  let timer = setTimeout(() => resolver.cancel(), lookUpMs)
  const hurry = (addresses: string[]): string[] => {
    clearTimeout(timer)
    timer = setTimeout(() => resolver.cancel(), otherFamilyMs)
    return addresses
  }
  const none = (): string[] => []
  const [ipv4, ipv6] = await Promise.all([
    resolver.resolve4(name).then(hurry).catch(none),
    resolver.resolve6(name).then(hurry).catch(none),
  ])
  clearTimeout(timer)
  return { ipv4, ipv6 }
}

type Places = {
  /** False when no place became free in time. */
  enter(owner: string): Promise<boolean>
  leave(owner: string): void
}

function createPlaces(perOwner: number, waitMs: number): Places {
  const taken = new Map<string, number>()
  const waiting = new Map<string, Set<() => void>>()

  const wait = (owner: string) =>
    new Promise<boolean>(settle => {
      const queue = waiting.get(owner) ?? new Set()
      waiting.set(owner, queue)
      const enter = () => end(true)
      const timer = setTimeout(() => end(false), waitMs)
      const end = (hasEntered: boolean) => {
        clearTimeout(timer)
        queue.delete(enter)
        if (queue.size === 0) waiting.delete(owner)
        settle(hasEntered)
      }
      queue.add(enter)
    })

  return {
    async enter(owner) {
      const count = taken.get(owner) ?? 0
      if (count >= perOwner) return await wait(owner)
      taken.set(owner, count + 1)
      return true
    },
    leave(owner) {
      const [next] = waiting.get(owner) ?? []
      // The place goes to the one that waited longest.
      if (next) return next()
      const left = (taken.get(owner) ?? 0) - 1
      if (left > 0) taken.set(owner, left)
      else taken.delete(owner)
    },
  }
}
