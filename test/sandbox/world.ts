// Shared by the sandbox tests: an issuer, and a verifier built with jose alone, so that both sides
// of the protocol are independent.
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'
import { CompactSign, calculateJwkThumbprint, compactDecrypt, exportJWK, generateKeyPair, type JWK } from 'jose'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { createIssuer, type Issuer, type IssuerState, loadIssuer, makeHolder } from '../../src/sandbox/issuer/issuer.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { type Exchange, type Fetch, type Holder, present, type VpToken } from '../../src/sandbox/wallet/wallet.ts'
import { seeded } from '../helpers/seeded.ts'

export const NOW = Date.parse('2026-08-20T10:00:00.500Z')
export const PUBLIC_URL = 'https://verifier.example'
export const { bytes: random } = seeded(20260820)

export const state: IssuerState = await createIssuer({ publicUrl: PUBLIC_URL, now: NOW, random })
export const issuer: Issuer = loadIssuer(state)
export const holderOf = (persona: PersonaId): Promise<Holder> => makeHolder(issuer, persona, NOW, random)

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** A verifier certificate under its own authority, or self-signed. */
export async function newVerifier({ isSelfSigned = false } = {}) {
  const [above, own] = await Promise.all([newKeys(), newKeys()])
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: '4f01',
    subject: 'CN=Verifier',
    issuer: isSelfSigned ? 'CN=Verifier' : 'CN=Verifier Authority',
    notBefore: new Date(NOW - 1000),
    notAfter: new Date(NOW + 86_400_000),
    signingAlgorithm: ALGORITHM,
    publicKey: own.publicKey,
    signingKey: isSelfSigned ? own.privateKey : above.privateKey,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'verifier.example' }])],
  })
  const clientId = `x509_hash:${Buffer.from(await leaf.getThumbprint('SHA-256')).toString('base64url')}`
  return { key: own.privateKey, x5c: [leaf.toString('base64')], clientId }
}

const newKeys = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

export type Verifier = Awaited<ReturnType<typeof newVerifier>>

export const verifier = await newVerifier()

type Session = {
  query: DcqlQuery
  mode?: 'direct_post' | 'direct_post.jwt'
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  by?: Verifier
}

/** A session of that verifier: its link, its network, and the answers it received. */
export async function newSession({ query, mode = 'direct_post.jwt', claims, header, by = verifier }: Session) {
  const encryption = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true })
  const jwk: JWK = { ...(await exportJWK(encryption.publicKey)), kid: 'session-key', alg: 'ECDH-ES', use: 'enc' }
  const responseUri = `${PUBLIC_URL}/wallet/response/vs_1?x=1`
  const formats = {
    'dc+sd-jwt': { 'sd-jwt_alg_values': ['ES256'], 'kb-jwt_alg_values': ['ES256'] },
    mso_mdoc: { issuerauth_alg_values: [-7, -9], deviceauth_alg_values: [-7, -9] },
  }
  const parameters = {
    client_id: by.clientId,
    aud: 'https://self-issued.me/v2',
    response_type: 'vp_token',
    response_mode: mode,
    response_uri: responseUri,
    nonce: Buffer.from(random(32)).toString('base64url'),
    state: Buffer.from(random(32)).toString('base64url'),
    iat: Math.floor(NOW / 1000),
    exp: Math.floor(NOW / 1000) + 600,
    dcql_query: query,
    client_metadata: {
      vp_formats_supported: formats,
      ...(mode === 'direct_post.jwt' && {
        jwks: { keys: [jwk] },
        encrypted_response_enc_values_supported: ['A128GCM', 'A256GCM'],
      }),
    },
    ...claims,
  }
  const forms: URLSearchParams[] = []
  const fetched: RequestInit[] = []
  const fetch: Fetch = async (url, init = {}) => {
    if (url === responseUri) {
      forms.push(new URLSearchParams(String(init.body)))
      return Response.json({ redirect_uri: `${PUBLIC_URL}/done#response_code=1` })
    }
    fetched.push(init)
    const walletNonce = init.method === 'POST' ? new URLSearchParams(String(init.body)).get('wallet_nonce') : null
    const object = { ...(walletNonce && { wallet_nonce: walletNonce }), ...parameters }
    const jws = await new CompactSign(new TextEncoder().encode(JSON.stringify(object)))
      .setProtectedHeader({ alg: 'ES256', typ: 'oauth-authz-req+jwt', x5c: by.x5c, ...header })
      .sign(by.key)
    return new Response(jws, { headers: { 'content-type': 'application/oauth-authz-req+jwt' } })
  }
  const link = new URLSearchParams({ client_id: by.clientId, request_uri: `${PUBLIC_URL}/wallet/request/vs_1` })
  return {
    walletUri: `openid4vp://authorize?${link}`,
    fetch,
    forms,
    fetched,
    parameters,
    responseUri,
    thumbprint: new Uint8Array(Buffer.from(await calculateJwkThumbprint(jwk), 'base64url')),
    /** The members of the answer, encrypted or not. */
    async open(form: URLSearchParams): Promise<{ members: Record<string, unknown>; header: Record<string, unknown> }> {
      const response = form.get('response')
      if (response === null) return { members: plainMembers(form), header: {} }
      const { plaintext, protectedHeader } = await compactDecrypt(response, encryption.privateKey)
      return { members: JSON.parse(new TextDecoder().decode(plaintext)), header: { ...protectedHeader } }
    },
  }
}

function plainMembers(form: URLSearchParams): Record<string, unknown> {
  const { vp_token, ...rest } = Object.fromEntries(form)
  return { ...rest, ...(vp_token !== undefined && { vp_token: JSON.parse(vp_token) }) }
}

export type SessionOf = Awaited<ReturnType<typeof newSession>>

type Options = Omit<Parameters<typeof present>[2], 'fetch' | 'now'>

/** Presents to a session; returns the exchange and the received token. */
export async function presentTo(
  session: SessionOf,
  holder: Holder,
  options: Options = {},
): Promise<{ exchange: Exchange; token: VpToken; members: Record<string, unknown>; header: Record<string, unknown> }> {
  const exchange = await present(session.walletUri, holder, { now: NOW, fetch: session.fetch, ...options })
  const { members, header } = await session.open(session.forms.at(-1)!)
  return { exchange, token: members.vp_token as VpToken, members, header }
}

export const sdJwtQuery = (...paths: (string | number | null)[][]): DcqlQuery => ({
  credentials: [
    { id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims: paths.map(path => ({ path })) },
  ],
})

export const mdlQuery = (...elements: string[]): DcqlQuery => ({
  credentials: [
    {
      id: 'mdl',
      format: 'mso_mdoc',
      meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
      claims: elements.map(element => ({ path: ['org.iso.18013.5.1', element] })),
    },
  ],
})
