// Every route of the service with its schemas: those of the public document, and those of our own pages, which it leaves out.
import { createApp } from '../../src/app.ts'
import { createSealer } from '../../src/base/seal.ts'
import { loadConfig } from '../../src/config.ts'
import type { Deps } from '../../src/deps.ts'
import { realWorld } from '../../src/ground.ts'
import { describeRoutes, type OpenApi, type Route } from '../../src/http/openapi.ts'
import { WebhookEvent } from '../../src/verifications/schema.ts'
import type { JsonSchema } from '../helpers/json-schema.ts'

type Content = Record<string, { schema: JsonSchema; examples?: Record<string, unknown> }>

export type Operation = {
  /** `POST /v1/verifications/{id}/redeem` */
  id: string
  method: string
  path: string
  params: string[]
  query: JsonSchema | undefined
  body: { type: string; schema: JsonSchema } | undefined
  /** Response schemas by status; undefined for routes without schemas, such as pages. */
  responses: Record<string, { /** A 204 has none. */ content?: Content }> | undefined
  isPublic: boolean
  takesKey: boolean
}

export type Surface = { document: OpenApi; operations: Operation[] }

type Parameter = { name: string; in: string; required?: boolean; schema: JsonSchema }

export function readSurface(): Surface {
  const routes = createApp(depsToListRoutes()).routes as unknown as Route[]
  const shown = routes.map(route => ({ ...route, hooks: { ...route.hooks, detail: { ...route.hooks.detail, hide: false } } }))
  const document = describeRoutes(shown, '', WebhookEvent)
  const operations = routes.map(({ method, path: routed, hooks }) => {
    const path = routed.replace(/:(\w+)/g, '{$1}')
    const described = document.paths[path]![method.toLowerCase()]!
    const parameters = (described.parameters ?? []) as Parameter[]
    const [[type, content] = []] = Object.entries((described.requestBody as { content: Content } | undefined)?.content ?? {})
    return {
      id: `${method} ${path}`,
      method,
      path,
      params: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
      query: querySchema(parameters.filter(each => each.in === 'query')),
      body: type && content ? { type, schema: content.schema } : undefined,
      responses: hooks.response ? (described.responses as Operation['responses']) : undefined,
      isPublic: !hooks.detail?.hide,
      takesKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
    }
  })
  return { document, operations }
}

/** None of the routes is called. */
function depsToListRoutes(): Deps {
  const { random, now, resolve } = realWorld()
  return { config: loadConfig({}), random, now, resolve, sealer: createSealer(random(32), random) } as Partial<Deps> as Deps
}

function querySchema(parameters: Parameter[]): JsonSchema | undefined {
  if (parameters.length === 0) return undefined
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  }
}
