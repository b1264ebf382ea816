import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { type Found, ok, problem, warning } from '../db/check.ts'
import { isLoopback, isPublicAddress } from '../egress/addresses.ts'
import type { Scene } from './scene.ts'
import type { ServedCertificate, Visit } from './visit.ts'

const DAY_MS = 86_400_000
/** Automatic renewal happens a month before the end; with less time left it has failed. */
const DAYS_LEFT_MIN = 14

/** Checks that a phone reaches this installation at its public address. */
export async function checkPublicUrl({ deps, visit, liveTenants }: Scene): Promise<Found> {
  const { publicUrl } = deps.config
  if (!publicUrl) return warning('The public address is unknown, because the system chooses the port.', 'Set VIDIMUS_PUBLIC_URL.')
  const seen = await visit
  const serious = (await liveTenants).length > 0 ? problem : warning
  const stranger = seen.answer && missedAt(publicUrl, seen)
  if (stranger) return stranger
  if (isLocal(seen)) {
    return serious(
      `${publicUrl} is an address of this machine: a phone cannot reach it.`,
      'Give the service a public name, and set VIDIMUS_PUBLIC_URL to it.',
    )
  }
  if (seen.addresses.length === 0)
    return problem(`${seen.host} was not found in the DNS.`, 'Publish the name, or correct VIDIMUS_PUBLIC_URL.')
  const missed = missedAt(publicUrl, seen)
  if (missed) return missed
  if (!publicUrl.startsWith('https:'))
    return serious(`${publicUrl} is plain http: most wallets refuse it.`, 'Put a TLS proxy in front, or set VIDIMUS_TLS_CERT.')
  if (!seen.addresses.some(isPublicAddress)) {
    return warning(
      `${seen.host} resolves to a private address: phones reach it only inside that network.`,
      'If customers are elsewhere, give the name a public address.',
    )
  }
  return ok(`${publicUrl} reaches this service, as seen from this machine.`)
}

const isLocal = ({ host, addresses }: Visit): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || (addresses.length > 0 && addresses.every(isLoopback))

function missedAt(publicUrl: string, { answer }: Visit): Found | undefined {
  if (!answer) {
    return problem(
      `Nothing answers at ${publicUrl}.`,
      'Start the service, and route this address to it in proxy, router and firewall.',
    )
  }
  if (answer.isOurs) return undefined
  return answer.status === 200
    ? problem(`Something else answers at ${publicUrl}, not this installation.`, 'Correct the proxy, or VIDIMUS_PUBLIC_URL.')
    : problem(
        `${publicUrl}/healthz answers ${answer.status} instead of this installation.`,
        'Let the proxy forward every path below VIDIMUS_PUBLIC_URL, with its headers.',
      )
}

export async function checkTls({ deps, visit }: Scene): Promise<Found> {
  const { publicUrl, dataDir } = deps.config
  if (!publicUrl.startsWith('https:')) return ok('The public address is not https, so there is no certificate to check.')
  const { host, certificate } = await visit
  if (!certificate) return warning(`There is no certificate to check: ${host} does not answer.`, 'See public_url.')
  return judge(certificate, { host, dataDir, now: deps.now() })
}

type Around = { host: string; dataDir: string; now: number }

function judge({ leaf, isTrusted }: ServedCertificate, { host, dataDir, now }: Around): Found {
  const daysLeft = Math.floor((leaf.validToDate.getTime() - now) / DAY_MS)
  const renew = 'Renew it; on SIGHUP the service loads its own certificate again.'
  if (daysLeft < 0) return problem(`The certificate of ${host} has expired.`, renew)
  if (!(isIP(host) ? leaf.checkIP(host) : leaf.checkHost(host)))
    return problem(`The certificate is not for ${host}.`, 'Get one for this name, or correct VIDIMUS_PUBLIC_URL.')
  if (!isTrusted && isLocallySigned(leaf, dataDir)) {
    return warning(
      `The certificate of ${host} is from the local authority: tills that have it installed trust it, phones do not.`,
      'For wallets, use a certificate from a public authority.',
    )
  }
  if (!isTrusted) {
    return problem(
      `The certificate of ${host} leads to no authority that this machine trusts.`,
      'Use one from a public authority, and serve its whole chain.',
    )
  }
  if (daysLeft < DAYS_LEFT_MIN) return warning(`The certificate of ${host} expires in ${daysLeft} days.`, renew)
  return ok(`The certificate of ${host} is trusted and valid for ${daysLeft} more days.`)
}

/** True for a certificate of the authority that `tls init` made in its default place. */
function isLocallySigned(leaf: X509Certificate, dataDir: string): boolean {
  const file = join(dataDir, 'tls', 'ca.pem')
  return existsSync(file) && leaf.verify(new X509Certificate(readFileSync(file)).publicKey)
}
