import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { base62 } from '../base/ids.ts'
import { SALT_BYTES } from '../base/seal.ts'
import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Configured, Ground, Reading, Remembering, Sealing, Unsealing } from '../ground.ts'
import type { RequestSigner } from '../openid4vp/exchange/request-object.ts'
import { describeCertificate } from '../openid4vp/x509/x509.ts'
import { issueOwnCertificates } from './authority.ts'
import { leavesAt } from './leaves.ts'
import {
  findAuthority,
  findSigningKey,
  insertSigningKey,
  type KeyOwner,
  type Leaf,
  listLeaves,
  type SigningKeyRow,
} from './store.ts'

/** The client_id that wallets see in requests, and the key that proves it. */
export type RequestIdentity = { clientId: string; signingKeyId: string }

/** The identity of a tenant's own certificate, else the installation's. */
export type RequestIdentities = (tenantId: string) => Promise<RequestIdentity>

/** Read again after every change of settings, and when a scheduled certificate starts. */
export function rememberIdentities(deps: Reading & Remembering & Configured): RequestIdentities {
  let known: { version: number; until: number; current: ReadonlyMap<KeyOwner, RequestIdentity> } | undefined
  return async tenantId => {
    const version = await deps.settingsVersion()
    if (known?.version !== version || deps.now() >= known.until) known = { version, ...(await identitiesAt(deps, deps.now())) }
    const identity = known.current.get(tenantId) ?? known.current.get(null)
    if (!identity) throw new Error('the first start makes a signing key')
    return identity
  }
}

async function identitiesAt({ db, config }: Reading & Configured, at: number) {
  const { current, until } = leavesAt(await listLeaves(db), at)
  // `x509_hash:` and the SHA-256 of the leaf, or the host that the leaf names (OpenID4VP 1.0 § 5.9.3).
  const isByHost = config.wallet.clientIdPrefix === 'x509_san_dns'
  const identityOf = ({ id, clientId }: Leaf): RequestIdentity => ({
    clientId: isByHost ? `x509_san_dns:${hostOf(config.publicUrl)}` : clientId,
    signingKeyId: id,
  })
  return { current: new Map([...current].map(([owner, leaf]) => [owner, identityOf(leaf)])), until }
}

export const hostOf = (publicUrl: string): string => new URL(publicUrl || 'http://localhost').hostname.replace(/^\[|\]$/g, '')

/** The key and chain that a session was created under, and the organisation they stand for. */
export type Signer = RequestSigner & {
  tenantId: KeyOwner
  /** Its `organizationIdentifier`; undefined where the certificate has none. */
  organization: string | undefined
}

export type RequestSigners = (signingKeyId: string) => Promise<Signer>

/** Kept in memory until settings change: keys are erased a day after their certificate was replaced. */
export function rememberSigners(deps: Reading & Unsealing & Remembering): RequestSigners {
  let known: { version: number; signers: Map<string, Signer> } | undefined
  return async id => {
    const version = await deps.settingsVersion()
    if (known?.version !== version) known = { version, signers: new Map() }
    const { signers } = known
    const signer = signers.get(id) ?? (await readSigner(deps, id))
    signers.set(id, signer)
    return signer
  }
}

async function readSigner(deps: Reading & Unsealing, id: string): Promise<Signer> {
  const row = await findSigningKey(deps.db, id)
  if (!row) throw new Error('a session names a signing key that exists')
  const privateKey = await signingKeyOf(deps, row)
  const chain = certificatesOf(row.chain)
  const organization = organizationOf(row.chain)
  return { privateKey, chain, isSelfMade: await isSelfMade(deps.db, row), tenantId: row.tenantId, organization }
}

export async function signingKeyOf(deps: Unsealing, row: SigningKeyRow): Promise<CryptoKey> {
  const pkcs8 = openPrivateKey(deps, row).export({ format: 'der', type: 'pkcs8' })
  return await crypto.subtle.importKey('pkcs8', pkcs8, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
}

/** True if the local authority issued it. */
async function isSelfMade(db: Db, { chain }: SigningKeyRow): Promise<boolean> {
  const authority = await findAuthority(db)
  return authority !== undefined && new X509Certificate(chain).checkIssued(new X509Certificate(authority.chain))
}

/** The `organizationIdentifier` of the leaf (2.5.4.97), which a registration certificate names too. */
export const organizationOf = (pem: string): string | undefined =>
  describeCertificate(Buffer.from(certificatesOf(pem)[0] ?? '', 'base64'))?.subjectAttributes.organizationIdentifier

/** Base64 DER of each certificate in a PEM text, in its order. */
export const certificatesOf = (pem: string): string[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/g)].map(
    ([, base64]) => base64?.replace(/\s/g, '') ?? '',
  )

export const chainOf = (pem: string): [X509Certificate, ...X509Certificate[]] =>
  certificatesOf(pem).map(base64 => new X509Certificate(Buffer.from(base64, 'base64'))) as [X509Certificate, ...X509Certificate[]]

export type Validity = { notBefore: number; notAfter: number }

/** A chain is valid while each of its certificates is: wallets check them all (RFC 5280 § 6.1.3). */
export const validityOf = (chain: readonly X509Certificate[]): Validity => ({
  notBefore: Math.max(...chain.map(({ validFromDate }) => validFromDate.getTime())),
  notAfter: Math.min(...chain.map(({ validToDate }) => validToDate.getTime())),
})

export const thumbprintClientId = (der: Uint8Array): string => `x509_hash:${createHash('sha256').update(der).digest('base64url')}`

/** Makes a key on the first start. Of several first starts at once, one inserts its own. */
export async function ensureSigningKey(deps: Ground): Promise<void> {
  const at = deps.now()
  if (await hasLeaf(deps.db, at)) return
  const { authority, leaf } = await issueOwnCertificates({ host: hostOf(deps.config.publicUrl), at, random: deps.random })
  const rows = [
    sealSigningKey(deps, { ...authority, at, role: 'authority', clientId: '' }),
    sealSigningKey(deps, { ...leaf, at, role: 'leaf', clientId: thumbprintClientId(leaf.der) }),
  ]
  await deps.writeSettings(async tx => {
    if (await hasLeaf(tx, at)) return
    for (const row of rows) await insertSigningKey(tx, row)
  })
}

const hasLeaf = async (db: Db, at: number): Promise<boolean> => leavesAt(await listLeaves(db), at).current.has(null)

type NewSigningKey = Pick<SigningKeyRow, 'role' | 'chain' | 'clientId' | 'notAfter'> &
  Partial<Pick<SigningKeyRow, 'tenantId' | 'startsAt'>> & { at: number; privateKey: KeyObject }

export function sealSigningKey({ random, sealer }: Sealing, made: NewSigningKey): SigningKeyRow {
  const { role, chain, clientId, notAfter, tenantId = null, startsAt = null, at, privateKey } = made
  const id = `sig_${base62(random, 16)}`
  const salt = Buffer.from(random(SALT_BYTES))
  const sealed = sealer.seal(SEALED.signingKey(id, salt), privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'))
  return { id, role, chain, clientId, salt, sealed, createdAt: at, notAfter, retiredAt: null, tenantId, startsAt }
}

/** The certificate was replaced, and no session needs its key any more. */
export const isErased = ({ sealed }: SigningKeyRow): boolean => sealed.length === 0

export function openPrivateKey({ sealer }: Unsealing, { id, salt, sealed }: SigningKeyRow): KeyObject {
  return createPrivateKey({
    key: Buffer.from(sealer.open(SEALED.signingKey(id, salt), sealed), 'base64'),
    format: 'der',
    type: 'pkcs8',
  })
}
