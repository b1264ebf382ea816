// A relying party's own papers, as an authority and a registrar would issue them around the clock of a test.
import { randomBytes, X509Certificate } from 'node:crypto'
import { CompactSign, decodeProtectedHeader } from 'jose'
import { trustAnchors, trustSources } from '../../src/db/schema/trust.ts'
import { importSigningKey } from '../../src/signing/import.ts'
import { requestNewKey } from '../../src/signing/request.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import type { TestApp } from './app.ts'
import {
  CertificateRequest,
  DAY_MS,
  type Issued,
  issue,
  issueAccess,
  issueAuthority,
  pemOf,
  type Wanted,
} from './certificates.ts'

/** The name and life of an authority that fits the clock of the app. */
export const newAuthority = (app: TestApp): Promise<Issued> =>
  issueAuthority({ notBefore: app.clock.now() - 400 * DAY_MS, notAfter: app.clock.now() + 4000 * DAY_MS })

type Access = Wanted & { organization?: string }

/** The access certificate for a request, PEM. By default it is valid from now on, for 90 days. */
export async function signRequest(
  app: TestApp,
  csr: string,
  { issuer, ...wanted }: Access & { issuer: Issued },
): Promise<string> {
  const publicKey = await new CertificateRequest(csr).publicKey.export()
  const keys = { ...issuer.keys, publicKey }
  const life = { notBefore: app.clock.now(), notAfter: app.clock.now() + 90 * DAY_MS }
  return pemOf((await issueAccess({ issuer, keys, ...life, ...wanted })).der)
}

type Own = Access & { issuer?: Issued; owner?: string | null; from?: number; authorities?: string[] }

/** Makes a key, has it signed and imports it, as the operator does. */
export async function getCertificate(app: TestApp, { owner = null, from, authorities = [], issuer, ...wanted }: Own = {}) {
  const csr = await requestNewKey(app.deps, { owner, host: 'verify.example' }, 'test')
  const chainPem = await signRequest(app, csr, { ...wanted, issuer: issuer ?? (await newAuthority(app)) })
  return { chainPem, ...(await importSigningKey(app.deps, { chainPem, owner, from, authorities }, 'test')) }
}

export const clientIdOf = ({ wallet_uri }: Verification): string => new URL(wallet_uri ?? '').searchParams.get('client_id') ?? ''

/** The chain in the request object of a session. */
export async function chainOf(app: TestApp, { id }: Verification): Promise<X509Certificate[]> {
  const { text } = await app.call('GET', `/wallet/request/${id}`)
  return (decodeProtectedHeader(text).x5c ?? []).map(base64 => new X509Certificate(Buffer.from(base64, 'base64')))
}

/** An anchor of a list of those who issue papers, as an accepted one leaves it. */
export async function loadAccessList({ deps }: TestApp, certificate: string, paper: 'WRPAC' | 'WRPRC' = 'WRPAC'): Promise<void> {
  const at = deps.now()
  const id = randomBytes(8).toString('hex')
  await deps.writeSettings(async tx => {
    await tx.insert(trustSources).values({
      id: `src_${id}`,
      environment: 'live',
      kind: 'lote',
      use: 'relying_party',
      label: 'Access authorities',
      everyMs: 43_200_000,
      graceMs: 0,
      identity: id,
      name: 'Access authorities',
      issuedAt: at,
      digest: id,
      signer: id,
      announced: [],
      acceptedAt: at,
      skipped: {},
      checkedAt: at,
      failures: 0,
      dueAt: at,
      createdAt: at,
    })
    const anchor = {
      id: `anc_${id}`,
      environment: 'live',
      label: 'Access CA',
      mode: 'pkix',
      createdAt: at,
      use: 'relying_party',
      trustedFor: `http://uri.etsi.org/19602/SvcType/${paper}/Issuance`,
    } as const
    await tx.insert(trustAnchors).values({ ...anchor, certificate, sourceId: `src_${id}` })
  })
}

type Said = Record<string, unknown>

/** A registrar that signs registration certificates; `said` and `header` replace members of a usual one. */
export async function newRegistrar(app: Pick<TestApp, 'clock'>) {
  const at = app.clock.now()
  const { der, keys } = await issue({ name: 'CN=Registrar', notBefore: at - DAY_MS, notAfter: at + 900 * DAY_MS })
  return async (said: Said = {}, header: Said = {}): Promise<string> => {
    const claims = {
      name: 'Corner Shop',
      sub: 'VATDE-123456789',
      sub_ln: 'Corner Shop GmbH',
      country: 'DE',
      intended_use_id: 'age-check',
      entitlements: ['https://uri.etsi.org/19475/Entitlement/Service_Provider'],
      srv_description: [[{ lang: 'en', value: 'Sells wine' }]],
      purpose: [{ lang: 'en', value: 'To check your age' }],
      credentials: AGE_OF_PIDS,
      iat: Math.floor(at / 1000) - 60,
      exp: Math.floor(at / 1000) + 300 * 86_400,
      ...said,
    }
    return await new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ alg: 'ES256', typ: 'rc-wrp+jwt', x5c: [Buffer.from(der).toString('base64')], ...header })
      .sign(keys.privateKey)
  }
}

export const AGE_OF_PIDS = [
  {
    format: 'dc+sd-jwt',
    meta: { vct_values: ['urn:eudi:pid:1', 'urn:eudi:pid:de:1'] },
    claim: [{ path: ['age_equal_or_over', '18'] }],
  },
]
