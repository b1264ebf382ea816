// A part of the service whose routes are made with its first request: the start does not wait for them, and they take no memory
// where nobody asks.
import type { BunRequest } from 'bun'
import type { AnyElysia } from 'elysia'
import { type Handle, handlerOf } from './handlers.ts'
import { isInexact, pathOf } from './routing.ts'

/** Segments behind the prefix: more than any route has. */
const SEGMENTS_MAX = 8

type Part = { prefix: string; make: () => Promise<AnyElysia> }

/**
 * Routes for the runtime, one for each number of segments: its router compares paths as sent, and its parameters are the
 * segments as sent.
 */
export function onFirstUse(part: Part): Record<string, Handle> {
  let made: Promise<Handle> | undefined
  const handle: Handle = async request => {
    made ??= part
      .make()
      .then(routed)
      .catch(error => {
        made = undefined
        throw error
      })
    return await (await made)(request)
  }
  const names = Array.from({ length: SEGMENTS_MAX }, (_, i) => `/:segment${i}`)
  return Object.fromEntries(names.map((_, i) => [part.prefix + names.slice(0, i + 1).join(''), handle]))
}

type Served = { method: string; segments: string[]; handle: Handle }

function routed(app: AnyElysia): Handle {
  const routes = app.routes
    .map((route): Served => ({ method: route.method, segments: route.path.split('/'), handle: handlerOf(app, route) }))
    .sort(exactFirst)
  return request => {
    const route = Object.values(request.params).some(isInexact) ? undefined : routeOf(request, routes)
    // A request without parameters is refused: its path is unknown, or its method.
    Object.defineProperty(request, 'params', { value: route && paramsOf(request, route) })
    return route ? route.handle(request) : app.fetch(request)
  }
}

/** The order in which routes are tried: of two that fit a path, the one whose parameter comes later is first. */
const exactFirst = (a: Served, b: Served): number => rank(a).localeCompare(rank(b))

const rank = ({ segments }: Served): string => segments.map(segment => (isParameter(segment) ? '1' : '0')).join('')

function routeOf({ method, url }: Request, routes: readonly Served[]): Served | undefined {
  const path = pathOf(url).split('/')
  const asked = method === 'HEAD' ? 'GET' : method
  return routes.find(route => route.method === asked && fits(route, path))
}

const isParameter = (segment: string): boolean => segment.startsWith(':')

const fits = ({ segments }: Served, path: readonly string[]): boolean =>
  segments.length === path.length && segments.every((segment, i) => isParameter(segment) || segment === path[i])

/** The last parameters of the runtime are those of the last segments. */
function paramsOf({ params }: BunRequest, { segments }: Served): Record<string, string> {
  const values: string[] = Object.values(params)
  const prefix = segments.length - values.length
  return Object.fromEntries(
    segments.flatMap((segment, i) => (isParameter(segment) ? [[segment.slice(1), values[i - prefix] ?? '']] : [])),
  )
}
