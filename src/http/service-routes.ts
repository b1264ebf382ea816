import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { equalConstantTime, sha256Hex } from '../base/hash.ts'
import { isFromLoopback } from './client-address.ts'
import type { Deps } from './deps.ts'
import { apiError } from './errors.ts'
import { takesFrom, traceOf } from './plugin.ts'
import { createProver, PROBE_HEADER, PROOF_HEADER } from './probe.ts'
import { errorResponses } from './schema.ts'

const Health = Type.Object({ status: Type.Literal('ok') }, { additionalProperties: false, $id: 'Health' })

/** Routes for operators: health, readiness, metrics. */
export const serviceRoutes = (deps: Deps & { isReady(): Promise<boolean> }) => {
  const prove = createProver(deps.sealer)
  return new Elysia({ tags: ['Service'] })
    .get(
      '/healthz',
      ({ request, set }) => {
        const proof = prove(request.headers.get(PROBE_HEADER))
        if (proof) set.headers[PROOF_HEADER] = proof
        return { status: 'ok' as const }
      },
      {
        response: { 200: Health, ...errorResponses(500) },
        detail: { operationId: 'getHealth', summary: 'The process is alive' },
      },
    )
    .get(
      '/readyz',
      async () => {
        if (!(await deps.isReady())) throw apiError('not_ready')
        return { status: 'ok' as const }
      },
      {
        beforeHandle: takesFrom(deps, 'probe'),
        response: { 200: Health, ...errorResponses(429, 500, 503) },
        detail: { operationId: 'getReadiness', summary: 'The database can be written' },
      },
    )
    .get(
      '/metrics',
      async ({ request, set }) => {
        requireMetricsAccess(deps, request)
        set.headers['content-type'] = 'text/plain; version=0.0.4; charset=utf-8'
        return await deps.metrics.render()
      },
      {
        beforeHandle: takesFrom(deps, 'probe'),
        response: { 200: Type.String({ description: 'Prometheus text format' }), ...errorResponses(401, 429, 500) },
        detail: {
          operationId: 'getMetrics',
          summary: 'Figures for Prometheus',
          description: 'For clients on the same machine; all others send VIDIMUS_METRICS_TOKEN as bearer token.',
        },
      },
    )
}

function requireMetricsAccess({ config: { metricsToken }, limits }: Deps, request: Request): void {
  const { address, client } = traceOf(request)
  if (isFromLoopback(request, address)) return
  const given = /^Bearer ([!-~]{1,256})$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  if (metricsToken && given && equalConstantTime(sha256Hex(given), sha256Hex(metricsToken))) return
  limits.take('badauth', client)
  throw apiError('metrics_token_required', { headers: { 'www-authenticate': 'Bearer' } })
}
