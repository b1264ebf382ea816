import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isIP } from '../base/ip.ts'
import type { Config } from '../config.ts'
import { found, notSetUp, ok, problem, secondOf, warning } from '../db/check.ts'
import { isLoopback, isPublicAddress } from '../egress/addresses.ts'
import { readTlsPair, UnusablePair } from '../http/tls-pair.ts'
import { addressKind } from './address.ts'
import type { Scene } from './scene.ts'
import type { ServedCertificate, Visit } from './visit.ts'

const DAY_MS = 86_400_000
/** Automatic renewal happens a month before the end; with less time left it has failed. */
const DAYS_LEFT_MIN = 14

/** Checks that a phone reaches this installation at its public address. */
export async function checkPublicUrl({ deps, visit, liveTenants }: Scene) {
  const { publicUrl } = deps.config
  if (!publicUrl) return warning('address_unknown')
  const seen = await visit
  const serious = found((await liveTenants).length > 0 ? 'problem' : 'warning')
  const stranger = seen.answer && missedAt(publicUrl, seen)
  if (stranger) return stranger
  if (addressKind(publicUrl) === 'local' || leadsHere(seen)) return notSetUp('address_local', { publicUrl })
  if (seen.addresses.length === 0) return problem('name_unknown', { host: seen.host })
  const missed = missedAt(publicUrl, seen)
  if (missed) return missed
  if (addressKind(publicUrl) === 'plain') return serious('address_plain', { publicUrl })
  if (!seen.addresses.some(isPublicAddress)) return warning('address_private', { host: seen.host })
  return ok('address_reached', { publicUrl })
}

const leadsHere = ({ addresses }: Visit): boolean => addresses.length > 0 && addresses.every(isLoopback)

function missedAt(publicUrl: string, { answer }: Visit) {
  if (!answer) return problem('address_silent', { publicUrl })
  if (answer.isOurs) return undefined
  return answer.status === 200
    ? problem('address_of_another', { publicUrl })
    : problem('address_answers_otherwise', { publicUrl, status: answer.status })
}

export async function checkTls({ deps, visit }: Scene) {
  const { publicUrl, dataDir, tls } = deps.config
  const unusable = tls && findUnusable(tls)
  if (unusable) return unusable
  if (!publicUrl.startsWith('https:')) return notSetUp('tls_unused')
  const { host, certificate } = await visit
  return certificate ? judge(certificate, { host, dataDir, now: deps.now() }) : warning('tls_unseen', { host })
}

/** A service that runs serves the pair of its start, and one that is stopped has nothing to visit. */
function findUnusable(tls: NonNullable<Config['tls']>) {
  try {
    readTlsPair(tls)
    return undefined
  } catch (error) {
    if (!(error instanceof UnusablePair)) throw error
    const { reason, message } = error
    return problem('tls_unusable', { ...tls, reason, message })
  }
}

type Around = { host: string; dataDir: string; now: number }

function judge({ leaf, isTrusted }: ServedCertificate, { host, dataDir, now }: Around) {
  const daysLeft = Math.floor((leaf.validToDate.getTime() - now) / DAY_MS)
  if (daysLeft < 0) return problem('tls_ended', { host })
  const begin = leaf.validFromDate.getTime()
  if (begin > now) return problem('tls_too_early', { host, begin: secondOf(begin) })
  if (!(isIP(host) ? leaf.checkIP(host) : leaf.checkHost(host))) return problem('tls_other_name', { host })
  if (!isTrusted && isLocallySigned(leaf, dataDir)) return warning('tls_local', { host })
  if (!isTrusted) return problem('tls_untrusted', { host })
  return daysLeft < DAYS_LEFT_MIN ? warning('tls_ending', { host, daysLeft }) : ok('tls_good', { host, daysLeft })
}

/** True for a certificate of the authority that `tls init` made in its default place. */
function isLocallySigned(leaf: X509Certificate, dataDir: string): boolean {
  const file = join(dataDir, 'tls', 'ca.pem')
  return existsSync(file) && leaf.verify(new X509Certificate(readFileSync(file)).publicKey)
}
