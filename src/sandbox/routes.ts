import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { accessPlugin } from '../access/plugin.ts'
import { errorResponses } from '../http/schema.ts'
import type { Deps } from './deps.ts'
import { issueDocuments } from './issuer/issue-documents.ts'
import { IssueDocuments, IssuedDocuments } from './schema.ts'

/** The lists of the sandbox issuer, which any verifier may fetch, and the documents for the wallet's page. */
export const sandboxRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/sandbox', tags: ['Sandbox'] })
    .use(accessPlugin(deps))
    .get(
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
          200: Type.Unknown({
            contentMediaType: 'application/statuslist+jwt',
            description: 'A Token Status List, as JWT or CWT',
          }),
          ...errorResponses(429, 500),
        },
        detail: { operationId: 'getSandboxStatusList', summary: "The sandbox issuer's status list" },
      },
    )
    .get(
      '/identifier-list',
      async () => {
        const { issuer } = await deps.sandbox()
        return new Response(await issuer.identifierList(deps.now()), {
          headers: { 'content-type': 'application/identifierlist+cwt' },
        })
      },
      {
        open: {},
        response: {
          200: Type.Unknown({
            contentMediaType: 'application/identifierlist+cwt',
            description: 'A list of revoked identifiers (ISO/IEC 18013-5), CWT',
          }),
          ...errorResponses(429, 500),
        },
        detail: { operationId: 'getSandboxIdentifierList', summary: "The sandbox issuer's list of revoked identifiers" },
      },
    )
    .get(
      '/crl',
      async () => {
        const { issuer } = await deps.sandbox()
        return new Response(await issuer.crl(deps.now()), { headers: { 'content-type': 'application/pkix-crl' } })
      },
      {
        open: {},
        response: {
          200: Type.Unknown({
            contentMediaType: 'application/pkix-crl',
            description: 'A certificate revocation list (RFC 5280), DER',
          }),
          ...errorResponses(429, 500),
        },
        detail: { operationId: 'getSandboxCrl', summary: "The revocation list for the sandbox issuer's certificates" },
      },
    )
    .post('/documents', ({ body }) => issueDocuments(deps, body), {
      open: { ownPages: true, body: 'json' },
      body: IssueDocuments,
      response: { 200: IssuedDocuments, ...errorResponses(400, 413, 429, 500) },
      // Not part of the interface: it changes with the page.
      detail: { hide: true },
    })
