// The key that signs request objects, and its certificate: a leaf under a small authority of its own, because wallets refuse a self-signed
// leaf (HAIP 5). The authority is never sent; an operator hands it to wallets that should trust this service.
import type { Deps, RequestIdentity } from '../deps.ts'
import { base62 } from '../ids.ts'
import type { RequestSigner } from '../openid4vp/request-object.ts'
import { SALT_BYTES } from '../seal.ts'
import { findCurrentLeaf, findSigningKey, insertSigningKey, type SigningKeyRow } from './store.ts'

const DAY_MS = 86_400_000
const AUTHORITY_DAYS = 3650
const LEAF_DAYS = 730
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

type KeyDeps = Pick<Deps, 'db' | 'write' | 'now' | 'random' | 'sealer' | 'config'>

/** Read for each session: an imported certificate counts at once. */
export async function currentIdentity({ db, config }: Pick<Deps, 'db' | 'config'>): Promise<RequestIdentity> {
  const leaf = await findCurrentLeaf(db)
  if (!leaf) throw new Error('the first start makes a signing key')
  // `x509_hash:` and the SHA-256 of the leaf, or the host that the leaf names (OpenID4VP 1.0 § 5.9.3).
  const clientId = config.wallet.clientIdPrefix === 'x509_san_dns' ? `x509_san_dns:${hostOf(config.publicUrl)}` : leaf.clientId
  return { clientId, signingKeyId: leaf.id }
}

const signers = new Map<string, RequestSigner>()

/** The key pair a session was created under, ready to sign; kept in memory, since rows of signing keys never change. */
export async function requestSigner(deps: Pick<Deps, 'db' | 'sealer'>, id: string): Promise<RequestSigner> {
  const known = signers.get(id)
  if (known) return known
  const row = await findSigningKey(deps.db, id)
  if (!row) throw new Error('a session names a signing key that exists')
  const pkcs8 = Buffer.from(deps.sealer.open(keyPlace(row.id, row.salt), row.sealed), 'base64')
  const signer = {
    privateKey: await crypto.subtle.importKey('pkcs8', pkcs8, ALGORITHM, false, ['sign']),
    chain: certificatesOf(row.chain),
  }
  signers.set(id, signer)
  return signer
}

const certificatesOf = (pem: string): string[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/g)].map(
    ([, base64]) => base64?.replace(/\s/g, '') ?? '',
  )

const keyPlace = (row: string, salt: Uint8Array) => ({ tenant: '', table: 'signing_keys', column: 'sealed', row, salt })

/** Makes authority and leaf on the first start. */
export async function ensureSigningKey(deps: KeyDeps): Promise<void> {
  if (await findCurrentLeaf(deps.db)) return
  const rows = await issueCertificates(deps)
  await deps.write(async tx => {
    if (await findCurrentLeaf(tx)) return
    for (const row of rows) await insertSigningKey(tx, row)
  })
}

async function issueCertificates(deps: KeyDeps): Promise<SigningKeyRow[]> {
  // Loaded only here: building certificates is rare, and the library is large.
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const at = deps.now()
  const [authorityKeys, leafKeys] = await Promise.all([newKeyPair(), newKeyPair()])
  const name = `Vidimus ${hostOf(deps.config.publicUrl)}`

  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(deps),
    name: `CN=${name} Authority`,
    notBefore: new Date(at - DAY_MS),
    notAfter: new Date(at + AUTHORITY_DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys: authorityKeys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  })
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(deps),
    subject: `CN=${name}`,
    issuer: authority.subject,
    notBefore: new Date(at - DAY_MS),
    notAfter: new Date(at + LEAF_DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    publicKey: leafKeys.publicKey,
    signingKey: authorityKeys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.SubjectAlternativeNameExtension([subjectAltName(hostOf(deps.config.publicUrl))]),
      await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(leafKeys.publicKey),
    ],
  })
  const thumbprint = Buffer.from(await leaf.getThumbprint('SHA-256')).toString('base64url')
  return [
    await sealedRow(deps, at, {
      role: 'authority',
      chain: authority.toString('pem'),
      clientId: '',
      keys: authorityKeys,
      notAfter: authority.notAfter,
    }),
    await sealedRow(deps, at, {
      role: 'leaf',
      chain: leaf.toString('pem'),
      clientId: `x509_hash:${thumbprint}`,
      keys: leafKeys,
      notAfter: leaf.notAfter,
    }),
  ]
}

const newKeyPair = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

const hostOf = (publicUrl: string): string => new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')

/** Positive and unguessable (RFC 5280 4.1.2.2). */
function serialNumber({ random }: Pick<Deps, 'random'>): string {
  const bytes = Buffer.from(random(16))
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes.toString('hex')
}

const subjectAltName = (host: string): { type: 'ip' | 'dns'; value: string } => ({
  type: host.includes(':') || /^[\d.]+$/.test(host) ? 'ip' : 'dns',
  value: host,
})

type Issued = Pick<SigningKeyRow, 'role' | 'chain' | 'clientId'> & { keys: CryptoKeyPair; notAfter: Date }

async function sealedRow(
  { random, sealer }: KeyDeps,
  at: number,
  { role, chain, clientId, keys, notAfter }: Issued,
): Promise<SigningKeyRow> {
  const id = `sig_${base62(random, 16)}`
  const salt = Buffer.from(random(SALT_BYTES))
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  const sealed = sealer.seal(keyPlace(id, salt), pkcs8)
  return { id, role, chain, clientId, salt, sealed, createdAt: at, notAfter: notAfter.getTime(), retiredAt: null }
}
