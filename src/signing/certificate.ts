import { X509Certificate } from 'node:crypto'
import type { Reading, Reporting } from '../ground.ts'
import { certificatesOf, chainOf, validityOf } from './keys.ts'
import { leavesAt, nextLeaf, startOf } from './leaves.ts'
import { SigningProblem } from './problem.ts'
import { findAuthority, type KeyOwner, listCandidates, listLeavesOf, listPending, type SigningKeyRow } from './store.ts'

export type { KeyOwner } from './store.ts'

const DAY_MS = 86_400_000
/** Warnings begin here at the latest, for anchors and other certificates too. */
export const EXPIRY_WARNING_DAYS = 30

/** A certificate and the days it has. */
export type SigningCertificate = {
  clientId: string
  subject: string
  issuer: string
  notBefore: number
  notAfter: number
  chain: string
}

export type SigningState = SigningCertificate & {
  /** The tenant whose sessions use it; null for all that have no certificate of their own. */
  owner: KeyOwner
  /** False for a tenant that uses the installation's. */
  isOwn: boolean
  daysLeft: number
  /** The root to hand to wallets that should trust this service; null for an imported chain. */
  authority: string | null
  /** The certificate that takes over, and when. */
  next: (SigningCertificate & { startsAt: number }) | null
  /** When the newest key was made that waits for its certificate. */
  pendingSince: number | null
}

/** The state of a tenant's own certificate, else of the installation's. */
export async function signingState(deps: Reading, owner: KeyOwner = null): Promise<SigningState> {
  const { db, now } = deps
  const at = now()
  const leaves = await listLeavesOf(db, owner)
  const leaf = leavesAt(leaves, at).current.get(owner)
  const [pending] = await listPending(db, owner)
  const next = nextLeaf(leaves, at)
  const plans = {
    next: next ? { ...describeRow(next), startsAt: startOf(next) } : null,
    pendingSince: pending?.createdAt ?? null,
  }
  if (leaf) return { ...(await describeLeaf(deps, leaf)), owner, isOwn: true, ...plans }
  if (owner !== null) return { ...(await signingState(deps)), owner, isOwn: false, ...plans }
  throw new SigningProblem('no_signing_key')
}

async function describeLeaf({ db, now }: Reading, leaf: SigningKeyRow) {
  const authority = await findAuthority(db)
  const isOwn = authority !== undefined && leafOf(leaf.chain).checkIssued(new X509Certificate(authority.chain))
  const described = describeRow(leaf)
  return {
    ...described,
    daysLeft: Math.floor((described.notAfter - now()) / DAY_MS),
    authority: isOwn ? authority.chain : null,
  }
}

export function describeRow({ clientId, chain }: SigningKeyRow): SigningCertificate {
  const certificates = chainOf(chain)
  const [{ subject, issuer }] = certificates
  return { clientId, subject: oneLine(subject), issuer: oneLine(issuer), ...validityOf(certificates), chain }
}

const leafOf = (pem: string): X509Certificate => new X509Certificate(Buffer.from(certificatesOf(pem)[0] ?? '', 'base64'))

export const oneLine = (name: string): string => name.split('\n').join(', ')

/** The installation's certificate, then those of tenants that have, or wait for, one of their own. */
export async function signingStates(deps: Reading): Promise<SigningState[]> {
  const tenants = (await listCandidates(deps.db)).flatMap(({ tenantId }) => (tenantId === null ? [] : [tenantId]))
  const owners = [...new Set(tenants)].sort()
  return [await signingState(deps), ...(await Promise.all(owners.map(owner => signingState(deps, owner))))]
}

/** `soon`: a warning is due; `urgent`: hardly any time is left to renew it. */
type Life = 'good' | 'soon' | 'urgent' | 'ended'

/**
 * A warning begins with a third of the lifetime left, so that a certificate of a week does not warn
 * all week, and at the latest 30 days before the end. With less than a tenth left it is urgent.
 */
export function lifeOf({ notBefore, notAfter }: Pick<SigningCertificate, 'notBefore' | 'notAfter'>, at: number): Life {
  const warningMs = Math.min(EXPIRY_WARNING_DAYS * DAY_MS, (notAfter - notBefore) / 3)
  const leftMs = notAfter - at
  if (leftMs <= 0) return 'ended'
  if (leftMs < warningMs * URGENT_SHARE) return 'urgent'
  return leftMs < warningMs ? 'soon' : 'good'
}

/** A tenth of the lifetime is this share of a third of it. */
const URGENT_SHARE = 0.3

/** Whether somebody has to renew it: not while the next one starts before its end. */
export const isRunningOut = (state: SigningState, at: number): boolean =>
  lifeOf(state, at) !== 'good' && (state.next === null || state.next.startsAt > state.notAfter)

/** Called once a day and at the start. */
export async function warnOfExpiry(deps: Reading & Reporting): Promise<void> {
  const ending = (await signingStates(deps)).filter(state => state.isOwn && isRunningOut(state, deps.now()))
  for (const { daysLeft, owner } of ending) {
    deps.log.warn('signing.certificate_expires', {
      count: daysLeft,
      ...(owner !== null && { tenant: owner }),
      detail: 'days left; renew it with "signing csr" and "signing import"',
    })
  }
}
