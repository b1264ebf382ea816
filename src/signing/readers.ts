// Reader certificates (ISO/IEC 18013-5 Annex B.1.7) sign requests by ISO/IEC 18013-7 Annex C and nothing else. There may be
// several: wallets look for one that they know. A tenant that has one of its own uses its own only.
import type { Setting } from '../audit/deps.ts'
import { sha256Hex } from '../base/hash.ts'
import { isoUtc } from '../base/time.ts'
import type { Reading, Remembering, Unsealing } from '../ground.ts'
import type { Reader } from '../openid4vp/exchange/reader-auth.ts'
import { oneLine } from './certificate.ts'
import { chainOf, signingKeyOf, type Validity, validityOf } from './keys.ts'
import { SigningProblem } from './problem.ts'
import { type KeyOwner, listReaders, retireReaders, type SigningKeyRow } from './store.ts'

export type ReaderCertificate = {
  owner: KeyOwner
  /** SHA-256 of the leaf, in hex. */
  fingerprint: string
  subject: string
  issuer: string
  notBefore: number
  notAfter: number
}

export type Readers = (tenantId: string) => Promise<readonly Reader[]>

type LoadedReader = { row: SigningKeyRow; validity: Validity; reader: Reader }

/** LoadedReader in memory until settings change. One that is not valid yet, or no more, signs nothing: no signature is better. */
export function rememberReaders(deps: Reading & Unsealing & Remembering): Readers {
  let known: { version: number; kept: Promise<LoadedReader[]> } | undefined
  return async tenantId => {
    const version = await deps.settingsVersion()
    if (known?.version !== version) known = { version, kept: openReaders(deps) }
    const at = deps.now()
    const valid = (await known.kept).filter(({ validity }) => isValid(validity, at))
    const own = valid.filter(({ row }) => row.tenantId === tenantId)
    return (own.length > 0 ? own : valid.filter(({ row }) => row.tenantId === null)).map(({ reader }) => reader)
  }
}

const openReaders = async (deps: Reading & Unsealing): Promise<LoadedReader[]> =>
  await Promise.all(
    (await listReaders(deps.db)).map(async row => {
      const certificates = chainOf(row.chain)
      const reader = { privateKey: await signingKeyOf(deps, row), chain: certificates.map(({ raw }) => raw) }
      // The stored end of an older import is that of its leaf alone.
      return { row, validity: validityOf(certificates), reader }
    }),
  )

const isValid = ({ notBefore, notAfter }: Validity, at: number): boolean => notBefore <= at && at < notAfter

/** Certificates of all owners. */
export const readReaders = async ({ db }: Reading): Promise<ReaderCertificate[]> => (await listReaders(db)).map(describeReader)

export function describeReader({ chain, tenantId }: SigningKeyRow): ReaderCertificate {
  const certificates = chainOf(chain)
  const [leaf] = certificates
  return {
    owner: tenantId,
    fingerprint: sha256Hex(leaf.raw),
    subject: oneLine(leaf.subject),
    issuer: oneLine(leaf.issuer),
    ...validityOf(certificates),
  }
}

export const presentReader = ({ fingerprint, subject, issuer, notBefore, notAfter }: ReaderCertificate) => ({
  fingerprint,
  subject,
  issuer,
  not_before: isoUtc(notBefore),
  not_after: isoUtc(notAfter),
})

/** The key of a removed certificate is erased a day later. */
export async function removeReader(
  deps: Setting,
  { owner, fingerprint }: { owner: KeyOwner; fingerprint: string },
  actor: string,
): Promise<void> {
  const at = deps.now()
  await deps.writeSettings(async tx => {
    const rows = await listReaders(tx)
    const row = rows.find(each => each.tenantId === owner && describeReader(each).fingerprint === fingerprint)
    if (!row) throw new SigningProblem('reader_not_here')
    await retireReaders(tx, [row.id], at)
    const details = { fingerprint, subject: describeReader(row).subject }
    await deps.audit.append(tx, {
      at,
      tenantId: owner ?? '',
      actor,
      action: 'signing.reader_removed',
      subjectId: row.id,
      details,
    })
  })
}
