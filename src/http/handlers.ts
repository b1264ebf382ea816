import type { BunRequest } from 'bun'
import type { AnyElysia, InternalRoute } from 'elysia'
import { createBunRouteHandler } from 'elysia/adapter/bun/compose'

export type Handle = (request: BunRequest) => Response | Promise<Response>

/** Compiled with its first request: of all routes, most services use a few. */
export function handlerOf(app: AnyElysia, route: InternalRoute): Handle {
  let handle: Handle | undefined
  return request => {
    handle ??= createBunRouteHandler(app, route) as Handle
    return handle(request)
  }
}

/** Each path with its methods, for the runtime's own router. */
export function routesOf(app: AnyElysia): Record<string, Record<string, Handle>> {
  const paths = Map.groupBy(app.routes, ({ path }) => path)
  const handlers = (routes: InternalRoute[]) => Object.fromEntries(routes.map(route => [route.method, handlerOf(app, route)]))
  return Object.fromEntries([...paths].map(([path, routes]) => [path, handlers(routes)]))
}
