import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { Deps } from '../audit/deps.ts'
import { isoUtc } from '../base/time.ts'
import type { Configured, Reading, Unsealing } from '../ground.ts'
import { READER_PURPOSE } from '../openid4vp/exchange/reader-auth.ts'
import { describeCertificate } from '../openid4vp/x509/x509.ts'
import { brokenRules } from './access-profile.ts'
import { type KeyOwner, oneLine, type SigningState, signingState } from './certificate.ts'
import {
  certificatesOf,
  chainOf,
  hostOf,
  openPrivateKey,
  sealSigningKey,
  thumbprintClientId,
  type Validity,
  validityOf,
} from './keys.ts'
import { isLater, leavesAt } from './leaves.ts'
import { noteIf } from './note.ts'
import { SigningProblem } from './problem.ts'
import {
  deletePending,
  insertSigningKey,
  listCandidates,
  listLeavesOf,
  listReaders,
  retireLeaves,
  retireStarted,
  type SigningKeyRow,
} from './store.ts'

export type Import = {
  chainPem: string
  /** Absent for a certificate that was asked for with a request of ours. */
  keyPem?: string
  /** The tenant whose own certificate it is; null for the installation's. */
  owner: KeyOwner
  /** New sessions take it from then on; at once, or as soon as it is valid, without one. */
  from?: number
  /** The access authorities of the lists that are loaded, PEM: wallets have them. */
  authorities: readonly string[]
}

/** `notes` are for the operator: what was left out, and what wallets may not like. */
type Imported = { state: SigningState; notes: ImportNote[] }

export type ImportNote = ReturnType<typeof notesOn>[number]

/** Sessions that are open keep the certificate they began with. */
export async function importSigningKey(deps: Deps, wanted: Import, actor: string): Promise<Imported> {
  const { owner } = wanted
  const given = parseChain(wanted.chainPem)
  const [leaf] = given
  const { privateKey, row: known } = await keyOf(deps, wanted, leaf)
  refuseUnusable(given)
  refuseReader(leaf)
  const at = deps.now()
  const chain = withoutAnchors(given, wanted.authorities)
  const { notBefore, notAfter } = validityOf(chain)
  refuseNeverValid(chain, at)
  const startsAt = await startFor(deps, wanted, { notBefore, notAfter }, at)
  refuseForeignHost(deps, wanted, leaf)
  const row = sealSigningKey(deps, {
    at,
    role: 'leaf',
    chain: chain.map(each => each.toString().trim()).join('\n'),
    clientId: thumbprintClientId(leaf.raw),
    privateKey,
    notAfter,
    tenantId: owner,
    startsAt,
  })
  await deps.writeSettings(async tx => {
    const candidates = await listCandidates(tx)
    if (hasKeyOf(deps, await listReaders(tx), leaf)) throw new SigningProblem('key_of_reader')
    if (known && !candidates.some(({ id }) => id === known.id)) throw new SigningProblem('key_replaced')
    // A scheduled one that is brought in again starts anew. One in use stays until then.
    const same = candidates.filter(
      each => each.tenantId === owner && each.clientId === row.clientId && (startsAt === null || isLater(each, at)),
    )
    if (same.length > 0)
      await retireLeaves(
        tx,
        same.map(({ id }) => id),
        at,
      )
    if (known?.role === 'pending') await deletePending(tx, [known.id])
    if (startsAt === null) await retireStarted(tx, owner, at)
    await insertSigningKey(tx, row)
    const details = {
      client_id: row.clientId,
      subject: oneLine(leaf.subject),
      ...(startsAt !== null && { starts_at: isoUtc(startsAt) }),
    }
    await deps.audit.append(tx, { at, tenantId: owner ?? '', actor, action: 'signing.imported', subjectId: row.id, details })
  })
  return { state: await signingState(deps, owner), notes: notesOn(chain, given, wanted) }
}

export function parseChain(pem: string): [X509Certificate, ...X509Certificate[]] {
  try {
    const [leaf, ...others] = certificatesOf(pem).map(base64 => new X509Certificate(Buffer.from(base64, 'base64')))
    if (leaf) return [leaf, ...others]
  } catch {
    // The error below is the same as for a file without any certificate.
  }
  throw new SigningProblem('chain_unreadable')
}

type Key = { privateKey: KeyObject; row?: SigningKeyRow }

/** The key that is given, else the one among ours that the leaf is for. */
export async function keyOf(
  deps: Reading & Unsealing,
  { keyPem, owner }: { keyPem?: string; owner: KeyOwner },
  leaf: X509Certificate,
): Promise<Key> {
  const isFor = (key: KeyObject) => leaf.publicKey.equals(createPublicKey(key))
  if (keyPem !== undefined) {
    const privateKey = parseKey(keyPem)
    if (isFor(privateKey)) return { privateKey }
    throw new SigningProblem('key_not_for_certificate')
  }
  const keys = (await listCandidates(deps.db)).map(row => ({ row, privateKey: openPrivateKey(deps, row) }))
  const fitting = keys.filter(({ privateKey }) => isFor(privateKey))
  const own = fitting.find(({ row }) => row.tenantId === owner)
  if (own) return own
  const [foreign] = fitting
  if (foreign) throw new SigningProblem('key_of_other_owner', { owner: foreign.row.tenantId })
  throw new SigningProblem('key_not_here')
}

/** A key that signs both kinds of requests could be made to sign one as the other. */
export const hasKeyOf = (deps: Unsealing, rows: readonly SigningKeyRow[], leaf: X509Certificate): boolean =>
  rows.some(row => leaf.publicKey.equals(createPublicKey(openPrivateKey(deps, row))))

function parseKey(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  } catch {
    throw new SigningProblem('key_unreadable')
  }
  throw new SigningProblem('key_not_p256')
}

export function refuseUnusable([leaf, ...others]: [X509Certificate, ...X509Certificate[]]): void {
  if (isSelfSigned(leaf)) throw new SigningProblem('certificate_self_signed')
  let issued = leaf
  for (const issuer of others) {
    if (!issued.checkIssued(issuer) || !issued.verify(issuer.publicKey)) throw new SigningProblem('chain_out_of_order')
    issued = issuer
  }
}

/** A reader's key signs nothing but requests by Annex C. */
function refuseReader(leaf: X509Certificate): void {
  const { purposes = [] } = describeCertificate(leaf.raw)?.extendedKeyUsage ?? {}
  if (purposes.join() === READER_PURPOSE) throw new SigningProblem('certificate_of_reader')
}

const isSelfSigned = (certificate: X509Certificate): boolean =>
  certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey)

export function refuseNeverValid([leaf, ...others]: readonly [X509Certificate, ...X509Certificate[]], at: number): void {
  const hasExpired = ({ validToDate }: X509Certificate) => validToDate.getTime() <= at
  if (hasExpired(leaf)) throw new SigningProblem('certificate_ended')
  const ended = others.find(hasExpired)
  if (ended) throw new SigningProblem('chain_ended', { subject: oneLine(ended.subject) })
  const { notBefore, notAfter } = validityOf([leaf, ...others])
  if (notBefore >= notAfter) throw new SigningProblem('chain_never_valid')
}

/** Null for at once. The certificate before it stays until it ends, at the latest. */
async function startFor(
  { db }: Reading,
  { from = 0, owner }: Import,
  { notBefore, notAfter }: Validity,
  at: number,
): Promise<number | null> {
  if (from >= notAfter) throw new SigningProblem('start_after_end', { end: isoUtc(notAfter) })
  const current = leavesAt(await listLeavesOf(db, owner), at).current.get(owner)
  // The stored end of an older import is that of its leaf alone.
  const ends = current ? validityOf(chainOf(current.chain)).notAfter : from
  const startsAt = Math.max(notBefore, Math.min(from, ends))
  return startsAt > at ? startsAt : null
}

/** Wallets look for the public host in the certificate with x509_san_dns (OpenID4VP 1.0 § 5.9.3). */
function refuseForeignHost({ config }: Configured, { owner }: Import, leaf: X509Certificate): void {
  const host = hostOf(config.publicUrl)
  if (owner === null || config.wallet.clientIdPrefix !== 'x509_san_dns' || isForHost(leaf, host)) return
  throw new SigningProblem('certificate_not_for_host', { host })
}

export const isForHost = (leaf: X509Certificate, host: string): boolean =>
  leaf.checkHost(host, { subject: 'never', wildcards: false }) !== undefined

/** HAIP § 5: neither the root nor another anchor is sent, nor anything above it. */
export function withoutAnchors(
  [leaf, ...others]: [X509Certificate, ...X509Certificate[]],
  authorities: readonly string[],
): [X509Certificate, ...X509Certificate[]] {
  const listed = new Set(authorities.map(pem => new X509Certificate(pem).fingerprint256))
  const end = others.findIndex(each => isSelfSigned(each) || listed.has(each.fingerprint256))
  return [leaf, ...(end < 0 ? others : others.slice(0, end))]
}

function notesOn(chain: X509Certificate[], given: X509Certificate[], { authorities }: Import) {
  const dropped = given.slice(chain.length).map(({ subject }) => oneLine(subject))
  const described = describeCertificate(given[0]!.raw)
  const broken = described ? brokenRules(described) : []
  const hasNoPath = authorities.length > 0 && !leadsTo(chain, authorities)
  return [
    ...noteIf(dropped.length > 0, 'chain_shortened', { dropped }),
    ...noteIf(broken.length > 0, 'profile_broken', { broken }),
    ...noteIf(hasNoPath, 'authority_unlisted', {}),
  ]
}

/** Whether one of the authorities issued the last certificate. */
export function leadsTo(chain: readonly X509Certificate[], authorities: readonly string[]): boolean {
  const last = chain.at(-1)
  return authorities.some(pem => {
    const authority = new X509Certificate(pem)
    return last?.checkIssued(authority) === true && last.verify(authority.publicKey)
  })
}
