import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { ALGORITHM, library } from './authority.ts'
import type { Deps } from './deps.ts'
import { certificatesOf, openPrivateKey, sealSigningKey, thumbprintClientId } from './keys.ts'
import {
  findAuthority,
  findCurrentLeaf,
  findCurrentSigningKey,
  insertSigningKey,
  retireLeaves,
  type SigningKeyRow,
} from './store.ts'

const DAY_MS = 86_400_000
/** The log, /metrics and `signing show` warn from here on. */
export const EXPIRY_WARNING_DAYS = 30

/** Why a key and chain cannot be used: one sentence with the remedy. */
export class SigningProblem extends Error {}

export type SigningState = {
  clientId: string
  subject: string
  issuer: string
  notAfter: number
  daysLeft: number
  chain: string
  /** The root to hand to wallets that should trust this service; null for an imported chain. */
  authority: string | null
}

export async function signingState({ db, now }: Pick<Deps, 'db' | 'now'>): Promise<SigningState> {
  const leaf = await currentLeaf({ db })
  const certificate = leafOf(leaf.chain)
  const authority = await findAuthority(db)
  const isOwn = authority !== undefined && certificate.checkIssued(new X509Certificate(authority.chain))
  return {
    clientId: leaf.clientId,
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    notAfter: leaf.notAfter,
    daysLeft: Math.floor((leaf.notAfter - now()) / DAY_MS),
    chain: leaf.chain,
    authority: isOwn ? authority.chain : null,
  }
}

async function currentLeaf({ db }: Pick<Deps, 'db'>): Promise<SigningKeyRow> {
  const leaf = await findCurrentSigningKey(db)
  if (!leaf) throw new SigningProblem('there is no signing key yet; start the service once')
  return leaf
}

const leafOf = (pem: string): X509Certificate => new X509Certificate(Buffer.from(certificatesOf(pem)[0] ?? '', 'base64'))

const oneLine = (name: string): string => name.split('\n').join(', ')

/** A signing request for the current key; `import` takes the certificate issued for it. */
export async function certificateRequest(deps: Pick<Deps, 'db' | 'sealer'>, host: string): Promise<string> {
  const leaf = await currentLeaf(deps)
  const x509 = await library()
  const jwk = openPrivateKey(deps, leaf).export({ format: 'jwk' })
  const { d: _, ...publicJwk } = jwk
  const keys = {
    privateKey: await crypto.subtle.importKey('jwk', jwk, ALGORITHM, true, ['sign']),
    publicKey: await crypto.subtle.importKey('jwk', publicJwk, ALGORITHM, true, ['verify']),
  }
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: `CN=${host}`,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
  })
  return `${request.toString('pem')}\n`
}

type Import = { chainPem: string; keyPem?: string }

/**
 * The chain must be for the current key unless one is given, as after `signing csr`. Sessions that are
 * open keep the certificate they began with.
 */
export async function importSigningKey(
  deps: Pick<Deps, 'db' | 'writeSettings' | 'now' | 'random' | 'sealer' | 'audit'>,
  { chainPem, keyPem }: Import,
  actor: string,
): Promise<SigningState> {
  const chain = parseChain(chainPem)
  const current = keyPem === undefined ? await currentLeaf(deps) : undefined
  const privateKey = current ? openPrivateKey(deps, current) : parseKey(keyPem ?? '')
  const at = deps.now()
  const leaf = checkedLeaf(chain, privateKey, at)
  const row = sealSigningKey(deps, {
    at,
    role: 'leaf',
    chain: chain
      .filter(each => !isSelfSigned(each))
      .map(each => each.toString().trim())
      .join('\n'),
    clientId: thumbprintClientId(leaf.raw),
    privateKey,
    notAfter: leaf.validToDate.getTime(),
  })
  await deps.writeSettings(async tx => {
    if (current && (await findCurrentLeaf(tx))?.id !== current.id)
      throw new SigningProblem(
        'the signing key was replaced meanwhile; see "signing show", and bring the key of this certificate',
      )
    await retireLeaves(tx, at)
    await insertSigningKey(tx, row)
    const details = { client_id: row.clientId, subject: oneLine(leaf.subject) }
    await deps.audit.append(tx, { at, tenantId: '', actor, action: 'signing.imported', subjectId: row.id, details })
  })
  return await signingState(deps)
}

function parseChain(pem: string): X509Certificate[] {
  try {
    const chain = certificatesOf(pem).map(base64 => new X509Certificate(Buffer.from(base64, 'base64')))
    if (chain.length > 0) return chain
  } catch {
    // The error below is the same as for a file without any certificate.
  }
  throw new SigningProblem('the chain file holds no readable certificate; it must be PEM, the leaf first')
}

function parseKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw new SigningProblem('the key file holds no readable private key; it must be PEM, without a passphrase')
  }
}

function checkedLeaf([leaf, ...others]: X509Certificate[], privateKey: KeyObject, now: number): X509Certificate {
  if (!leaf) throw new SigningProblem('the chain file holds no certificate')
  if (privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new SigningProblem('the key must be an elliptic-curve key on P-256, which every wallet can verify')
  if (!leaf.publicKey.equals(createPublicKey(privateKey)))
    throw new SigningProblem(
      'the first certificate of the chain is not for this key; put the leaf first, and bring its own key or have "signing csr" signed',
    )
  if (isSelfSigned(leaf))
    throw new SigningProblem('the certificate is self-signed, and wallets refuse that; have it signed by an authority')
  if (leaf.validFromDate.getTime() > now || leaf.validToDate.getTime() <= now)
    throw new SigningProblem('the certificate is not valid today')
  let issued = leaf
  for (const issuer of others) {
    if (!issued.checkIssued(issuer) || !issued.verify(issuer.publicKey))
      throw new SigningProblem('the certificates of the chain do not follow each other, leaf first')
    issued = issuer
  }
  return leaf
}

const isSelfSigned = (certificate: X509Certificate): boolean =>
  certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey)

/** Once a day and at the start. */
export async function warnOfExpiry(deps: Pick<Deps, 'db' | 'now' | 'log'>): Promise<void> {
  const { daysLeft } = await signingState(deps)
  if (daysLeft < EXPIRY_WARNING_DAYS) {
    deps.log.warn('signing.certificate_expires', {
      count: daysLeft,
      detail: 'days left; renew it with "signing csr" and "signing import"',
    })
  }
}
