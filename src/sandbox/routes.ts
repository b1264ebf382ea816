import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { accessPlugin } from '../access/plugin.ts'
import type { Deps } from '../deps.ts'
import { errorResponses } from '../http/schema.ts'

/** What the sandbox issuer publishes: its credentials name this address, and any verifier may ask it. */
export const sandboxRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/sandbox', tags: ['Sandbox'] }).use(accessPlugin(deps)).get(
    '/status-list',
    async ({ headers, set }) => {
      const { issuer } = await deps.sandbox()
      if (headers.accept?.includes('application/statuslist+cwt')) {
        return new Response(Buffer.from(await issuer.statusListCwt(deps.now())), {
          headers: { 'content-type': 'application/statuslist+cwt' },
        })
      }
      set.headers['content-type'] = 'application/statuslist+jwt'
      return await issuer.statusListToken(deps.now())
    },
    {
      open: {},
      response: {
        200: Type.Unknown({ contentMediaType: 'application/statuslist+jwt', description: 'A Token Status List, as JWT or CWT' }),
        ...errorResponses(429, 500),
      },
      detail: { operationId: 'getSandboxStatusList', summary: "The sandbox issuer's status list" },
    },
  )
