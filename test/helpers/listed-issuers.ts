// Issuers on lists at noon: lists that are signed by an operator of the tests, and documents of their issuers.

import { addSource } from '../../src/trust/lists/add-source.ts'
import type { NewSource, SourceView } from '../../src/trust/lists/source.ts'
import { type LoteEntity, type LoteService, makeLote, makeSigner, makeVical, type VicalEntry } from '../trust-lists/make.ts'
import { AGE_SERVICE, type EtsiService, makeEtsiList } from '../trust-lists/make-xml.ts'
import { NOON, type TestApp } from './app.ts'
import { DAY_MS } from './certificates.ts'
import { type Party, presentBy, verdictOf } from './exchange.ts'
import { AROUND_NOON, forgeMdoc, forgeSdJwt, holderWith, type MdocWish, PID, type SdJwtWish, type Signer } from './forger.ts'
import { mdocQuery, sdJwtQuery } from './queries.ts'

export const operator = await makeSigner(AROUND_NOON)

export const NEXT_UPDATE = NOON + 10 * DAY_MS
export const DATES = { issuedAt: NOON - DAY_MS, nextUpdate: NEXT_UPDATE }

type Listed = Pick<Signer, 'root'>
type Dates = { issuedAt?: number; nextUpdate?: number; sequence?: number }

export const providerOf = (issuer: Listed, country = 'NO', service: LoteService = {}): LoteEntity => ({
  name: `Provider of ${country}`,
  role: country,
  services: [{ certificates: [issuer.root], ...service }],
})

export const pidListOf = (entities: LoteEntity[], dates: Dates = {}): Uint8Array =>
  makeLote({ entities, sequence: 7, ...DATES, ...dates }, operator)

export const vicalOf = (entries: VicalEntry[]): Uint8Array =>
  makeVical({ entries, date: DATES.issuedAt, nextUpdate: DATES.nextUpdate }, operator)

export const ageListOf = (services: EtsiService[]): Uint8Array =>
  makeEtsiList({ providers: [{ services: services.map(service => ({ type: AGE_SERVICE, ...service })) }], ...DATES }, operator)

export const addList = (app: TestApp, bytes: Uint8Array, asked: Partial<NewSource> = {}): Promise<SourceView> =>
  addSource(
    app.deps,
    { environment: 'test', kind: 'lote', label: 'PID list', location: null, signers: [operator.fingerprint], bytes, ...asked },
    'test',
  )

export type Presented = Awaited<ReturnType<typeof presentPid>>

export const PID_BODY = (vct = PID) => ({
  query: { credentials: [sdJwtQuery('pid', [['family_name']], { meta: { vct_values: [vct] } })] },
})

export const holderOfPidBy = (signer: Signer, wish: SdJwtWish = {}) =>
  holderWith(async key => [await forgeSdJwt(signer, key, wish)])

/** Presents an SD-JWT, and gives the outcome with the findings on its issuer. */
export async function presentPid(party: Party, signer: Signer, wish: SdJwtWish = {}) {
  const { verification } = await presentBy(party, await holderOfPidBy(signer, wish), { body: PID_BODY(wish.vct) })
  return summaryOf(verification)
}

export async function presentMdoc(party: Party, signer: Signer, doctype: string, wish: MdocWish = {}) {
  const elements = [['org.example', 'family_name', 'Mustermann']] as const
  const holder = await holderWith(async key => [await forgeMdoc(signer, key, { doctype, elements, ...wish })])
  const query = mdocQuery('document', [['org.example', 'family_name']], { meta: { doctype_value: doctype } })
  return summaryOf((await presentBy(party, holder, { body: { query: { credentials: [query] } } })).verification)
}

function summaryOf(verification: Parameters<typeof verdictOf>[0]) {
  const findings = verification.credentials?.flatMap(credential => credential.findings) ?? []
  return {
    id: verification.id,
    outcome: verdictOf(verification).outcome,
    says: findings.map(({ detail }) => detail ?? '').join(' '),
  }
}
