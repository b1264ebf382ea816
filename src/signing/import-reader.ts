import type { X509Certificate } from 'node:crypto'
import type { Setting } from '../audit/deps.ts'
import type { Reading, Sealing } from '../ground.ts'
import { READER_PURPOSE } from '../openid4vp/exchange/reader-auth.ts'
import { describeCertificate } from '../openid4vp/x509/x509.ts'
import { hasKeyOf, type Import, keyOf, parseChain, refuseNeverValid, refuseUnusable, withoutAnchors } from './import.ts'
import { sealSigningKey, validityOf } from './keys.ts'
import { SigningProblem } from './problem.ts'
import { describeReader, type ReaderCertificate } from './readers.ts'
import { deletePending, insertSigningKey, listCandidates, listReaders, retireReaders } from './store.ts'

/** Each is a signature and a chain in every request. */
const READERS_MAX = 4

/** Replaces the one of the same issuer and owner. It counts as soon as it is valid. */
export async function importReader(
  deps: Reading & Sealing & Setting,
  { chainPem, keyPem, owner }: Pick<Import, 'chainPem' | 'keyPem' | 'owner'>,
  actor: string,
): Promise<ReaderCertificate> {
  const given = parseChain(chainPem)
  const [leaf] = given
  refuseUnusable(given)
  refuseNoReader(leaf)
  const at = deps.now()
  const chain = withoutAnchors(given, [])
  refuseNeverValid(chain, at)
  const { privateKey, row: known } = await keyOf(deps, { keyPem, owner }, leaf)
  const { notBefore, notAfter } = validityOf(chain)
  const row = sealSigningKey(deps, {
    at,
    role: 'reader',
    chain: chain.map(each => each.toString().trim()).join('\n'),
    clientId: '',
    privateKey,
    notAfter,
    tenantId: owner,
    startsAt: notBefore > at ? notBefore : null,
  })
  const reader = describeReader(row)
  await deps.writeSettings(async tx => {
    const leaves = (await listCandidates(tx)).filter(({ role }) => role === 'leaf')
    if (hasKeyOf(deps, leaves, leaf)) throw new SigningProblem('key_signs_other_requests')
    const own = (await listReaders(tx)).filter(({ tenantId }) => tenantId === owner)
    const replaced = own.filter(each => describeReader(each).issuer === reader.issuer).map(({ id }) => id)
    if (own.length - replaced.length >= READERS_MAX) throw new SigningProblem('too_many_readers', { max: READERS_MAX })
    if (replaced.length > 0) await retireReaders(tx, replaced, at)
    if (known?.role === 'pending') await deletePending(tx, [known.id])
    await insertSigningKey(tx, row)
    const { fingerprint, subject, issuer } = reader
    const details = { fingerprint, subject, issuer, replaced: replaced.length }
    await deps.audit.append(tx, {
      at,
      tenantId: owner ?? '',
      actor,
      action: 'signing.reader_imported',
      subjectId: row.id,
      details,
    })
  })
  return reader
}

function refuseNoReader(leaf: X509Certificate): void {
  const { extendedKeyUsage, basicConstraints } = describeCertificate(leaf.raw) ?? {}
  if (!extendedKeyUsage?.purposes.includes(READER_PURPOSE) || basicConstraints?.ca)
    throw new SigningProblem('certificate_of_no_reader', { purpose: READER_PURPOSE })
}
