import { createHash, createPrivateKey, type KeyObject } from 'node:crypto'
import { base62 } from '../ids.ts'
import type { RequestSigner } from '../openid4vp/request-object.ts'
import { SALT_BYTES } from '../seal.ts'
import { issueOwnCertificates } from './authority.ts'
import type { Deps } from './deps.ts'
import { findCurrentLeaf, findSigningKey, insertSigningKey, type SigningKeyRow } from './store.ts'

/** The client_id of this service in requests, and the key that proves it. */
export type RequestIdentity = { clientId: string; signingKeyId: string }

/** Read again after every change of settings: an imported certificate counts at once. */
export function rememberIdentity(deps: Pick<Deps, 'db' | 'config' | 'settingsVersion'>): () => Promise<RequestIdentity> {
  let known: { identity: RequestIdentity; at: number } | undefined
  return async () => {
    const at = await deps.settingsVersion()
    if (known?.at !== at) known = { identity: await currentIdentity(deps), at }
    return known.identity
  }
}

async function currentIdentity({ db, config }: Pick<Deps, 'db' | 'config'>): Promise<RequestIdentity> {
  const leaf = await findCurrentLeaf(db)
  if (!leaf) throw new Error('the first start makes a signing key')
  // `x509_hash:` and the SHA-256 of the leaf, or the host that the leaf names (OpenID4VP 1.0 §
  // 5.9.3).
  const clientId = config.wallet.clientIdPrefix === 'x509_san_dns' ? `x509_san_dns:${hostOf(config.publicUrl)}` : leaf.clientId
  return { clientId, signingKeyId: leaf.id }
}

export const hostOf = (publicUrl: string): string => new URL(publicUrl || 'http://localhost').hostname.replace(/^\[|\]$/g, '')

/** The key and chain that a session was created under. */
export type RequestSigners = (signingKeyId: string) => Promise<RequestSigner>

/** Kept in memory: rows of signing keys never change. */
export function rememberSigners(deps: Pick<Deps, 'db' | 'sealer'>): RequestSigners {
  const known = new Map<string, RequestSigner>()
  return async id => {
    const signer = known.get(id) ?? (await readSigner(deps, id))
    known.set(id, signer)
    return signer
  }
}

async function readSigner(deps: Pick<Deps, 'db' | 'sealer'>, id: string): Promise<RequestSigner> {
  const row = await findSigningKey(deps.db, id)
  if (!row) throw new Error('a session names a signing key that exists')
  const pkcs8 = openPrivateKey(deps, row).export({ format: 'der', type: 'pkcs8' })
  const privateKey = await crypto.subtle.importKey('pkcs8', pkcs8, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
  return { privateKey, chain: certificatesOf(row.chain) }
}

/** Base64 DER of each certificate in a PEM text, in its order. */
export const certificatesOf = (pem: string): string[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/g)].map(
    ([, base64]) => base64?.replace(/\s/g, '') ?? '',
  )

export const thumbprintClientId = (der: Uint8Array): string => `x509_hash:${createHash('sha256').update(der).digest('base64url')}`

/** On the first start. Of several first starts at once, one inserts its own. */
export async function ensureSigningKey(
  deps: Pick<Deps, 'db' | 'writeSettings' | 'now' | 'random' | 'sealer' | 'config'>,
): Promise<void> {
  if (await findCurrentLeaf(deps.db)) return
  const at = deps.now()
  const { authority, leaf } = await issueOwnCertificates({ host: hostOf(deps.config.publicUrl), at, random: deps.random })
  const rows = [
    sealSigningKey(deps, { ...authority, at, role: 'authority', clientId: '' }),
    sealSigningKey(deps, { ...leaf, at, role: 'leaf', clientId: thumbprintClientId(leaf.der) }),
  ]
  await deps.writeSettings(async tx => {
    if (await findCurrentLeaf(tx)) return
    for (const row of rows) await insertSigningKey(tx, row)
  })
}

type NewSigningKey = Pick<SigningKeyRow, 'role' | 'chain' | 'clientId' | 'notAfter'> & { at: number; privateKey: KeyObject }

export function sealSigningKey({ random, sealer }: Pick<Deps, 'random' | 'sealer'>, made: NewSigningKey): SigningKeyRow {
  const { role, chain, clientId, notAfter, at, privateKey } = made
  const id = `sig_${base62(random, 16)}`
  const salt = Buffer.from(random(SALT_BYTES))
  const sealed = sealer.seal(keyPlace(id, salt), privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'))
  return { id, role, chain, clientId, salt, sealed, createdAt: at, notAfter, retiredAt: null, tenantId: null, startsAt: null }
}

export function openPrivateKey({ sealer }: Pick<Deps, 'sealer'>, { id, salt, sealed }: SigningKeyRow): KeyObject {
  return createPrivateKey({ key: Buffer.from(sealer.open(keyPlace(id, salt), sealed), 'base64'), format: 'der', type: 'pkcs8' })
}

export const keyPlace = (row: string, salt: Uint8Array) => ({ tenant: '', table: 'signing_keys', column: 'sealed', row, salt })
