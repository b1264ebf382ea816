import { randomBytes } from 'node:crypto'
import { makeHolder } from '../../src/sandbox/issuer/issuer.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { type AnswerOptions, type Exchange, type Fetch, type Holder, present } from '../../src/sandbox/wallet/wallet.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, type TestApp } from './app.ts'

export const random = (count: number) => new Uint8Array(randomBytes(count))

/** The public address of a test's service leads to where it really listens. */
export const fetchOf =
  (app: TestApp): Fetch =>
  (url, init) =>
    fetch(url.replace(app.deps.config.publicUrl, app.url), init)

export async function holderOf(app: TestApp, persona: PersonaId = 'adult'): Promise<Holder> {
  const { issuer } = await app.deps.sandbox()
  return await makeHolder(issuer, persona, app.clock.now(), random)
}

export type FormatChoice = 'dc+sd-jwt' | 'mso_mdoc'

type PresentOptions = Partial<AnswerOptions> & { format?: FormatChoice; method?: 'get' | 'post' }

/** A holder's wallet answers a session. */
export async function answerWith(
  app: TestApp,
  holder: Holder,
  walletUri: string,
  { format, ...options }: PresentOptions = {},
): Promise<Exchange> {
  return await present(walletUri, holder, {
    fetch: fetchOf(app),
    now: app.clock.now(),
    ...(format && { accept: credential => credential.format === format }),
    ...options,
  } as Parameters<typeof present>[2])
}

/** Create, answer, read: the whole of a verification. */
export async function verifyWith(
  app: TestApp,
  key: string,
  persona: PersonaId,
  { body = {}, ...options }: PresentOptions & { body?: object } = {},
): Promise<{ exchange: Exchange; verification: Verification }> {
  const created = await createVerification(app, key, body)
  const exchange = await answerWith(app, await holderOf(app, persona), created.wallet_uri ?? '', options)
  const { body: verification } = await app.call<Verification>('GET', `/v1/verifications/${created.id}`, { key })
  return { exchange, verification }
}
