import { X509Certificate } from 'node:crypto'
import type { Setting } from '../audit/deps.ts'
import { base62 } from '../base/ids.ts'
import { isoUtc } from '../base/time.ts'
import type { Db } from '../db/engine.ts'
import type { Making, Reading } from '../ground.ts'
import { ACCEPTED_KEYS, hasStrongKey } from '../openid4vp/x509/certification-path.ts'
import { describeCertificate } from '../openid4vp/x509/x509.ts'
import type { RefusalCode } from '../trust-lists/list.ts'
import { lineageOf } from './lineage.ts'
import { type AnchorRow, deleteAnchor, existsAnchor, findAnchor, insertAnchor, listAllAnchors } from './store.ts'

/** A certificate that cannot be an anchor. The message is one sentence with the remedy. */
export class TrustProblem extends Error {
  override name = 'TrustProblem'
}

export class AnchorExists extends TrustProblem {}

/** A list that is not taken. The message begins with the name of its source. */
export class ListProblem extends TrustProblem {
  constructor(
    readonly code: RefusalCode,
    message: string,
  ) {
    super(message)
  }
}

export type { AnchorRow } from './store.ts'

export const ANCHOR_USES = ['status', 'documents', 'both'] as const
type AnchorUse = (typeof ANCHOR_USES)[number]

/** An anchor without a `mode` judges by the type of the document. */
export type NewAnchor = {
  pem: string
  environment: 'test' | 'live'
  label?: string
  trustedFor?: string
  mode?: AnchorRow['mode']
  crl?: NonNullable<AnchorRow['crl']>
  use?: AnchorUse
  /** The anchor of the same authority that it follows: what a person is called by its documents stays. */
  continues?: string
}

/** Adds every certificate of the file. */
export async function addAnchors(
  deps: Making & Setting,
  { pem, environment, label, trustedFor, mode, crl, use = 'both', continues }: NewAnchor,
  actor: string,
): Promise<AnchorRow[]> {
  const at = deps.now()
  if (trustedFor?.includes('*'))
    throw new TrustProblem('"*" in a type counts in lists only; trust the issuer for each whole type, or for all types')
  const certificates = parseCertificates(pem)
  const rows = certificates.map(certificate => {
    if (certificate.validToDate.getTime() <= at)
      throw new TrustProblem(`the certificate of ${nameOf(certificate)} has expired; get a current one from the issuer`)
    // The runtime reads more than paths accept: answers would say for ever that the issuer is not trusted.
    const described = describeCertificate(certificate.raw)
    if (!described)
      throw new TrustProblem(
        `the certificate of ${nameOf(certificate)} is not well-formed (RFC 5280); get another one from the issuer`,
      )
    if (!hasStrongKey(described))
      throw new TrustProblem(
        `the key of ${nameOf(certificate)} cannot be used here (only ${ACCEPTED_KEYS}); ask the issuer for a certificate with such a key`,
      )
    return {
      id: `anc_${base62(deps.random, 16)}`,
      environment,
      label: label ?? nameOf(certificate),
      certificate: certificate.toString(),
      mode: mode ?? ('auto' as const),
      crl: crl ?? null,
      trustedFor: trustedFor ?? null,
      createdAt: at,
      sourceId: null,
      use,
      entity: null,
      country: null,
      since: null,
      lineage: null,
    }
  })
  await deps.writeSettings(async tx => {
    refuseKnown(certificates, await listAllAnchors(tx), { environment, trustedFor: trustedFor ?? null, use })
    const lineage = continues === undefined ? null : await lineageFrom(tx, continues, environment)
    for (const row of rows) {
      await insertAnchor(tx, { ...row, lineage })
      const details = { environment, label: row.label, mode: row.mode, crl: row.crl, use, trusted_for: row.trustedFor, continues }
      await deps.audit.append(tx, { at, tenantId: '', actor, action: 'trust.added', subjectId: row.id, details })
    }
  })
  return rows
}

async function lineageFrom(tx: Db, id: string, environment: AnchorRow['environment']): Promise<string> {
  const anchor = await findAnchor(tx, id)
  if (anchor?.environment === environment) return lineageOf(anchor)
  throw new TrustProblem(`there is no anchor ${id} in ${environment}; "vidimus trust list" shows all`)
}

/**
 * Refuses duplicates: after the removal of one the issuer would still be trusted. One that a list
 * names may be added: it counts when the list no longer does. So may one that signs documents, to sign status lists of others.
 */
function refuseKnown(
  certificates: readonly X509Certificate[],
  known: readonly AnchorRow[],
  { environment, trustedFor, use }: Pick<AnchorRow, 'environment' | 'trustedFor' | 'use'>,
): void {
  const fingerprints = certificates.map(({ fingerprint256 }) => fingerprint256)
  const repeated = certificates.find(({ fingerprint256 }, index) => fingerprints.indexOf(fingerprint256) < index)
  if (repeated) throw new TrustProblem(`the certificate of ${nameOf(repeated)} is in the file twice; give it once`)
  const same = known
    // A list's own entries end with the list; one that the operator adds does not.
    .filter(row => row.sourceId === null && row.environment === environment && row.trustedFor === trustedFor)
    .filter(row => (row.use === 'status') === (use === 'status'))
    .find(row => fingerprints.includes(new X509Certificate(row.certificate).fingerprint256))
  if (!same) return
  throw new AnchorExists(
    `${same.label} is trusted in ${environment} sessions for ${trustedFor ?? 'every type'} already (${same.id})`,
  )
}

/** True when the operator or a list named an issuer. */
export const hasAnchor = async ({ db }: Reading, environment: AnchorRow['environment']): Promise<boolean> =>
  await existsAnchor(db, environment)

export const readAnchors = async ({ db }: Reading): Promise<AnchorRow[]> => await listAllAnchors(db)

export function presentAnchor(anchor: AnchorRow) {
  const { id, environment, label, mode, crl, trustedFor, certificate, createdAt, sourceId, use, entity, country } = anchor
  const parsed = new X509Certificate(certificate)
  return {
    id,
    environment,
    label,
    mode,
    crl,
    trusted_for: trustedFor,
    subject: parsed.subject.split('\n').join(', '),
    issuer: parsed.issuer.split('\n').join(', '),
    not_before: isoUtc(parsed.validFromDate.getTime()),
    not_after: isoUtc(parsed.validToDate.getTime()),
    fingerprint_sha256: fingerprintOf(parsed),
    created_at: isoUtc(createdAt),
    source: sourceId,
    use: use ?? 'both',
    entity,
    country,
  }
}

export async function removeAnchor(deps: Making & Setting, id: string, actor: string): Promise<boolean> {
  const at = deps.now()
  return await deps.writeSettings(async tx => {
    const removed = await deleteAnchor(tx, id)
    if (removed && removed.sourceId !== null) throw new TrustProblem(inListText(removed))
    if (removed)
      await deps.audit.append(tx, {
        at,
        tenantId: '',
        actor,
        action: 'trust.removed',
        subjectId: id,
        details: { label: removed.label },
      })
    return removed !== undefined
  })
}

const inListText = ({ label, environment, sourceId, certificate }: AnchorRow): string =>
  `${label} is named by the list ${sourceId}, whose next issue would bring it back; block it instead: "vidimus trust block ${fingerprintOf(new X509Certificate(certificate))} --env ${environment} --reason TEXT"`

const fingerprintOf = ({ fingerprint256 }: X509Certificate): string => fingerprint256.replaceAll(':', '').toLowerCase()

function parseCertificates(pem: string): X509Certificate[] {
  try {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
    if (blocks.length > 0) return blocks.map(block => new X509Certificate(block))
  } catch {
    // The error below is the same as for a file without any certificate.
  }
  throw new TrustProblem('the file holds no readable certificate; it must be PEM')
}

export function nameOf(certificate: X509Certificate): string {
  const subject = Object.fromEntries(certificate.subject.split('\n').map(line => line.split('=', 2) as [string, string]))
  return subject.CN ?? subject.O ?? certificate.fingerprint256.slice(0, 23)
}
