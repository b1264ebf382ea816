import { traceOf } from '../http/plugin.ts'
import { clientOf } from './authorize.ts'
import type { ClientRow, Issuer } from './client-store.ts'
import { hasSecret } from './clients.ts'
import type { Deps } from './deps.ts'
import { OAuthError } from './refusal.ts'
import { type Parameters, parametersIn } from './request.ts'

type Credentials = { id: string | undefined; secret: string | undefined }

/** One refusal for unknown, wrong and missing ones, and for another way than the client's own. */
export async function authenticateClient(
  deps: Deps,
  issuer: Issuer,
  request: Request,
  fields: URLSearchParams,
): Promise<ClientRow> {
  const authorization = request.headers.get('authorization')
  const given = parametersIn(fields)
  const basic = authorization === null ? undefined : readBasic(authorization)
  const repeated = [...fields.keys()].find(name => fields.getAll(name).length > 1)
  if (repeated !== undefined) throw new OAuthError('invalid_request', 'a member is sent twice')
  if (basic && given('client_secret')) throw new OAuthError('invalid_request', 'the client authenticates in two ways')
  const { id, secret } = basic ?? { id: given('client_id'), secret: given('client_secret') }
  const client = await clientOf(deps, issuer, id)
  const isOwn = await hasSecret(deps, client?.id ?? '', secret ?? '')
  const isRight = client?.auth === 'none' ? secret === undefined && !basic : isOwn
  if (client && isRight && isAlone(given, client, authorization, basic)) return client
  deps.limits.take('badauth', traceOf(request).client)
  const headers = authorization === null ? {} : { 'www-authenticate': 'Basic realm="OpenID client"' }
  throw new OAuthError(
    'invalid_client',
    'client unknown, or not authenticated in its way',
    401,
    headers as Record<string, string>,
  )
}

function isAlone(given: Parameters, { id }: ClientRow, authorization: string | null, basic: Credentials | undefined): boolean {
  const isRead = authorization === null || basic !== undefined
  return isRead && !given('client_assertion') && !given('client_assertion_type') && (given('client_id') ?? id) === id
}

/** RFC 6749 § 2.3.1: both parts are form-encoded. */
function readBasic(authorization: string): Credentials | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]{1,1024}={0,2})$/i.exec(authorization) ?? []
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? []
  return id === undefined ? undefined : { id: formDecoded(id), secret: formDecoded(secret!) }
}

const formDecoded = (text: string): string => new URLSearchParams(`v=${text.replaceAll('&', '%26')}`).get('v') ?? ''
