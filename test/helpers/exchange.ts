// One session from outside, step by step: open it, answer it, read what became of it.
import { CompactEncrypt, importJWK } from 'jose'
import {
  type AnswerOptions,
  answer,
  type Credential,
  fetchRequest,
  type Holder,
  type Mutations,
  type PresentationRequest,
} from '../../src/sandbox/wallet/wallet.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { type Answer, createVerification, type ErrorBody, type TestApp } from './app.ts'
import { fetchOf } from './wallet.ts'

export type Party = { app: TestApp; key: string }

export type Session = Party & { created: Verification; request: PresentationRequest }

type WalletAnswer = Answer<Partial<ErrorBody> & { redirect_uri?: string }>

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

type Fetching = { method?: 'get' | 'post'; walletMetadata?: object }

export async function openSession({ app, key }: Party, body: object, fetching: Fetching = {}): Promise<Session> {
  const created = await createVerification(app, key, { ...('query' in body && { template: undefined }), ...body })
  const request = await fetchRequest(created.wallet_uri ?? '', fetchOf(app), { now: app.clock.now(), ...fetching })
  return { app, key, created, request }
}

export const postTo = ({ app, created }: Session, raw: BodyInit, headers: Record<string, string> = {}): Promise<WalletAnswer> =>
  app.call('POST', `/wallet/response/${created.id}`, { raw, headers })

/** The response code that a wallet's answer leads the shopper back with. */
export const codeIn = ({ redirect_uri = '' }: { redirect_uri?: string }): string =>
  new URL(redirect_uri).hash.slice('#response_code='.length)

export const readOf = async ({ app, key, created }: Session): Promise<Verification> =>
  (await app.call<Verification>('GET', `/v1/verifications/${created.id}`, { key })).body

/** Mutations may need the client id and the nonce, which are known from the request only. */
export type Cheat = Mutations | ((session: Session) => Mutations)

export type Presenting = Omit<Partial<AnswerOptions>, 'mutations'> & { mutations?: Cheat }

export async function formOf(session: Session, holder: Holder, { mutations, ...options }: Presenting = {}) {
  const cheat = typeof mutations === 'function' ? mutations(session) : mutations
  const { form } = await answer(session.request, holder, { now: session.app.clock.now(), ...options, mutations: cheat })
  return form
}

/** Create, answer, read. */
export async function presentBy(
  party: Party,
  holder: Holder,
  { body, ...options }: Presenting & { body: object },
): Promise<{ answered: WalletAnswer; verification: Verification; session: Session }> {
  const session = await openSession(party, body)
  const answered = await postTo(session, await formOf(session, holder, options))
  return { answered, verification: await readOf(session), session }
}

/** A result as one line of a table: status or error code, the three booleans, and the failed checks. */
export function verdictOf({ status, error, credentials = [] }: Verification) {
  return {
    outcome: error?.code ?? status,
    signature: credentials.map(({ signature_valid }) => signature_valid),
    binding: credentials.map(({ holder_binding_valid }) => holder_binding_valid),
    trusted: credentials.map(({ trusted }) => trusted),
    failed: [...new Set(credentials.flatMap(({ findings }) => findings.filter(({ status }) => status === 'fail')))].map(
      ({ check }) => check,
    ),
  }
}

/** Encrypted properly to the session's key, whatever the content; a header member that is undefined is left out. */
export async function encryptedTo({ request }: Session, content: unknown, header: Record<string, unknown> = {}) {
  const jwk = request.encryption!.key
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const jwe = await new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader(JSON.parse(JSON.stringify({ alg: 'ECDH-ES', enc: 'A128GCM', kid: jwk.kid, ...header })))
    .encrypt(await importJWK({ kty: jwk.kty!, crv: jwk.crv!, x: jwk.x!, y: jwk.y! }, 'ECDH-ES'))
  return new URLSearchParams({ response: jwe })
}

export const only =
  (format: Credential['format'], type?: string) =>
  (credential: Credential): boolean =>
    credential.format === format && (type === undefined || credential.type === type)
