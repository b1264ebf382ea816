// An authorization request, checked in the order of the table that stands in the handbook.
import { LANGUAGES, type Language } from '../words/languages.ts'
import type { ClientRow } from './client-store.ts'
import { scopeOf } from './discovery.ts'

const STATE_CHARS_MAX = 1024
const NONCE_CHARS_MAX = 512
/** Sent twice, two readers could use different ones; what is unknown is ignored. The last line is known, and changes nothing. */
const KNOWN = (
  'client_id redirect_uri response_mode response_type request request_uri registration scope code_challenge ' +
  'code_challenge_method prompt max_age state nonce ui_locales ' +
  'login_hint id_token_hint display acr_values claims claims_locales'
).split(' ')

/** Empty counts as absent. */
export type Parameters = (name: string) => string | undefined

export const parametersIn =
  (fields: URLSearchParams): Parameters =>
  name =>
    fields.get(name) || undefined

/** What is kept of a request, sealed with the log-in. */
export type LoginRequest = {
  redirect_uri: string
  state?: string | undefined
  nonce?: string | undefined
  template: string
  code_challenge?: string | undefined
}

export type Refused = { error: string; description: string }

export const isRefused = (checked: LoginRequest | Refused): checked is Refused => 'error' in checked

export function readRequest(fields: URLSearchParams, client: ClientRow, redirect_uri: string): LoginRequest | Refused {
  const given = parametersIn(fields)
  const repeated = KNOWN.find(name => fields.getAll(name).length > 1)
  if (repeated) return invalid(`${repeated} is sent twice`)
  if (KNOWN.some(name => given(name)?.includes('\0'))) return invalid('a parameter holds U+0000')
  if (!['query', undefined].includes(given('response_mode'))) return invalid('response_mode: only query')
  if (!given('response_type')) return invalid('response_type is missing')
  if (given('response_type') !== 'code') return refused('unsupported_response_type', 'response_type: only code')
  const foreign = ['request', 'request_uri', 'registration'].find(given)
  if (foreign) return refused(`${foreign}_not_supported`, `${foreign} is not supported`)
  const template = templateOf(given('scope'), client)
  if (typeof template !== 'string') return template
  const [code_challenge, method] = [given('code_challenge'), given('code_challenge_method')]
  if (code_challenge ? method !== 'S256' || !/^[\w-]{43}$/.test(code_challenge) : method)
    return invalid('code_challenge: 43 characters of base64url, with the method S256')
  if (!code_challenge && client.pkce === 'required') return invalid('code_challenge is missing (PKCE)')
  const prompts = given('prompt')?.split(' ') ?? []
  if (prompts.includes('none'))
    return prompts.length > 1
      ? invalid('prompt: none stands alone')
      : refused('login_required', 'nobody stays logged in here: the customer is asked each time')
  if (!/^\d{1,10}$/.test(given('max_age') ?? '0')) return invalid('max_age: a whole number')
  const [state, nonce] = [given('state'), given('nonce')]
  if (state && state.length > STATE_CHARS_MAX) return invalid(`state: at most ${STATE_CHARS_MAX} characters`)
  if (nonce && nonce.length > NONCE_CHARS_MAX) return invalid(`nonce: at most ${NONCE_CHARS_MAX} characters`)
  return { redirect_uri, state, nonce, template, code_challenge }
}

/** For clients whose scopes cannot be set, the first of their templates. */
function templateOf(scope: string | undefined, { templates }: ClientRow): string | Refused {
  const words = new Set(scope?.split(' '))
  if (!words.has('openid')) return refused('invalid_scope', 'scope: openid is missing')
  const asked = [...words].filter(word => word.startsWith(scopeOf('')))
  if (asked.length > 1) return refused('invalid_scope', 'scope: one vidimus: word at most')
  const template = asked[0] === undefined ? templates[0]! : templates.find(key => scopeOf(key) === asked[0])
  return template ?? refused('invalid_scope', 'scope: this client may not ask for that')
}

/** The first of the languages that we have. */
export const languageOf = (locales: string | undefined): Language | undefined =>
  locales
    ?.split(' ')
    .map(tag => LANGUAGES.find(language => tag === language || tag.startsWith(`${language}-`)))
    .find(language => language !== undefined)

const refused = (error: string, description: string): Refused => ({ error, description })
const invalid = (description: string): Refused => refused('invalid_request', description)

/** The address that a browser goes back to. */
export function withAnswer(uri: string, issuer: string, answer: Record<string, string | undefined>): string {
  const fields = Object.entries({ ...answer, iss: issuer }).filter(([, value]) => value !== undefined) as [string, string][]
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(fields)}`
}
