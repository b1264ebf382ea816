import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { type Found, notSetUp, ok, problem, secondOf, warning } from '../db/check.ts'
import { isLoopback, isPublicAddress } from '../egress/addresses.ts'
import { readTlsPair, UnusablePair } from '../http/tls-pair.ts'
import { isIP } from '../ip.ts'
import { addressKind } from './address.ts'
import type { Scene } from './scene.ts'
import type { ServedCertificate, Visit } from './visit.ts'

const DAY_MS = 86_400_000
/** Automatic renewal happens a month before the end; with less time left it has failed. */
const DAYS_LEFT_MIN = 14

/** Checks that a phone reaches this installation at its public address. */
export async function checkPublicUrl({ deps, visit, liveTenants }: Scene): Promise<Found> {
  const { publicUrl } = deps.config
  if (!publicUrl)
    return warning({
      en: ['The public address is unknown, because the system chooses the port.', 'Set VIDIMUS_PUBLIC_URL.'],
      de: ['Die öffentliche Adresse ist unbekannt, weil das System den Port wählt.', 'Setzen Sie VIDIMUS_PUBLIC_URL.'],
    })
  const seen = await visit
  const serious = (await liveTenants).length > 0 ? problem : warning
  const stranger = seen.answer && missedAt(publicUrl, seen)
  if (stranger) return stranger
  if (addressKind(publicUrl) === 'local' || leadsHere(seen))
    return notSetUp({
      en: [
        `${publicUrl} is an address of this machine: enough to try things, but a phone cannot reach it.`,
        'Give the service a public name, and set VIDIMUS_PUBLIC_URL to it.',
      ],
      de: [
        `${publicUrl} ist eine Adresse dieser Maschine: genug zum Ausprobieren, aber ein Telefon erreicht sie nicht.`,
        'Geben Sie dem Dienst einen öffentlichen Namen, und setzen Sie VIDIMUS_PUBLIC_URL darauf.',
      ],
    })
  if (seen.addresses.length === 0)
    return problem({
      en: [`${seen.host} was not found in the DNS.`, 'Publish the name, or correct VIDIMUS_PUBLIC_URL.'],
      de: [
        `${seen.host} wurde im DNS nicht gefunden.`,
        'Veröffentlichen Sie den Namen, oder berichtigen Sie VIDIMUS_PUBLIC_URL.',
      ],
    })
  const missed = missedAt(publicUrl, seen)
  if (missed) return missed
  if (addressKind(publicUrl) === 'plain')
    return serious({
      en: [`${publicUrl} is plain http: most wallets refuse it.`, 'Put a TLS proxy in front, or set VIDIMUS_TLS_CERT.'],
      de: [
        `${publicUrl} ist unverschlüsseltes http: Die meisten Wallets lehnen es ab.`,
        'Stellen Sie einen TLS-Proxy davor, oder setzen Sie VIDIMUS_TLS_CERT.',
      ],
    })
  if (!seen.addresses.some(isPublicAddress))
    return warning({
      en: [
        `${seen.host} resolves to a private address: phones reach it only inside that network.`,
        'If customers are elsewhere, give the name a public address.',
      ],
      de: [
        `${seen.host} führt zu einer privaten Adresse: Telefone erreichen sie nur in diesem Netz.`,
        'Sind Ihre Kunden anderswo, geben Sie dem Namen eine öffentliche Adresse.',
      ],
    })
  return ok({
    en: `${publicUrl} reaches this service, as seen from this machine.`,
    de: `${publicUrl} erreicht diesen Dienst, von dieser Maschine aus gesehen.`,
  })
}

const leadsHere = ({ addresses }: Visit): boolean => addresses.length > 0 && addresses.every(isLoopback)

function missedAt(publicUrl: string, { answer }: Visit): Found | undefined {
  if (!answer)
    return problem({
      en: [`Nothing answers at ${publicUrl}.`, 'Start the service, and route this address to it in proxy, router and firewall.'],
      de: [
        `Unter ${publicUrl} antwortet nichts.`,
        'Starten Sie den Dienst, und leiten Sie diese Adresse in Proxy, Router und Firewall zu ihm.',
      ],
    })
  if (answer.isOurs) return undefined
  return answer.status === 200
    ? problem({
        en: [`Something else answers at ${publicUrl}, not this installation.`, 'Correct the proxy, or VIDIMUS_PUBLIC_URL.'],
        de: [
          `Unter ${publicUrl} antwortet etwas anderes als diese Installation.`,
          'Berichtigen Sie den Proxy oder VIDIMUS_PUBLIC_URL.',
        ],
      })
    : problem({
        en: [
          `${publicUrl}/healthz answers ${answer.status} instead of this installation.`,
          'Let the proxy forward every path below VIDIMUS_PUBLIC_URL, with its headers.',
        ],
        de: [
          `${publicUrl}/healthz antwortet ${answer.status} statt dieser Installation.`,
          'Lassen Sie den Proxy jeden Pfad unter VIDIMUS_PUBLIC_URL mit seinen Headern weiterleiten.',
        ],
      })
}

export async function checkTls({ deps, visit }: Scene): Promise<Found> {
  const { publicUrl, dataDir, tls } = deps.config
  const unusable = tls && findUnusable(tls)
  if (unusable) return unusable
  if (!publicUrl.startsWith('https:'))
    return notSetUp({
      en: ['The public address is not https, so there is no certificate to check.', 'See the public address.'],
      de: ['Die öffentliche Adresse ist nicht https, also gibt es kein Zertifikat zu prüfen.', 'Siehe öffentliche Adresse.'],
    })
  const { host, certificate } = await visit
  if (!certificate)
    return warning({
      en: [`There is no certificate to check: ${host} does not answer.`, 'See the public address.'],
      de: [`Es gibt kein Zertifikat zu prüfen: ${host} antwortet nicht.`, 'Siehe öffentliche Adresse.'],
    })
  return judge(certificate, { host, dataDir, now: deps.now() })
}

/** A service that runs serves the pair of its start, and one that is stopped has nothing to visit. */
function findUnusable(tls: NonNullable<Config['tls']>): Found | undefined {
  try {
    readTlsPair(tls)
    return undefined
  } catch (error) {
    if (!(error instanceof UnusablePair)) throw error
    return problem({
      en: [`${error.message}.`, 'Put the certificate and its key there: the next start of the service fails without them.'],
      de: [
        germanReason(error, tls),
        'Legen Sie Zertifikat und Schlüssel dort ab: Ohne sie scheitert der nächste Start des Dienstes.',
      ],
    })
  }
}

function germanReason({ reason }: UnusablePair, { certFile, keyFile }: NonNullable<Config['tls']>): string {
  switch (reason) {
    case 'cert_unreadable':
      return `VIDIMUS_TLS_CERT: ${certFile} lässt sich nicht lesen.`
    case 'key_unreadable':
      return `VIDIMUS_TLS_KEY: ${keyFile} lässt sich nicht lesen.`
    case 'no_certificate':
      return `VIDIMUS_TLS_CERT: ${certFile} enthält kein lesbares Zertifikat; es muss PEM sein, das des Dienstes zuerst.`
    case 'no_key':
      return `VIDIMUS_TLS_KEY: ${keyFile} enthält keinen lesbaren privaten Schlüssel; er muss PEM sein, ohne Passwort.`
    case 'other_key':
      return `VIDIMUS_TLS_KEY: ${keyFile} ist nicht der Schlüssel des ersten Zertifikats in ${certFile}.`
  }
}

type Around = { host: string; dataDir: string; now: number }

function judge({ leaf, isTrusted }: ServedCertificate, { host, dataDir, now }: Around): Found {
  const daysLeft = Math.floor((leaf.validToDate.getTime() - now) / DAY_MS)
  const renew = {
    en: 'Renew it; on SIGHUP the service loads its own certificate again.',
    de: 'Erneuern Sie es; bei SIGHUP lädt der Dienst sein eigenes Zertifikat neu.',
  }
  if (daysLeft < 0)
    return problem({
      en: [`The certificate of ${host} has expired.`, renew.en],
      de: [`Das Zertifikat von ${host} ist abgelaufen.`, renew.de],
    })
  const begin = leaf.validFromDate.getTime()
  if (begin > now)
    return problem({
      en: [
        `The certificate of ${host} is not valid before ${secondOf(begin)}.`,
        'Serve the one before it until then; if the time is wrong here, set the clock right.',
      ],
      de: [
        `Das Zertifikat von ${host} gilt erst ab ${secondOf(begin)}.`,
        'Liefern Sie bis dahin das vorige aus; ist die Zeit hier falsch, stellen Sie die Uhr.',
      ],
    })
  if (!(isIP(host) ? leaf.checkIP(host) : leaf.checkHost(host)))
    return problem({
      en: [`The certificate is not for ${host}.`, 'Get one for this name, or correct VIDIMUS_PUBLIC_URL.'],
      de: [
        `Das Zertifikat gilt nicht für ${host}.`,
        'Besorgen Sie eines für diesen Namen, oder berichtigen Sie VIDIMUS_PUBLIC_URL.',
      ],
    })
  if (!isTrusted && isLocallySigned(leaf, dataDir))
    return warning({
      en: [
        `The certificate of ${host} is from the local authority: tills that have it installed trust it, phones do not.`,
        'For wallets, use a certificate from a public authority.',
      ],
      de: [
        `Das Zertifikat von ${host} ist von der eigenen Stelle: Kassen, die sie kennen, vertrauen ihm, Telefone nicht.`,
        'Nehmen Sie für Wallets ein Zertifikat einer öffentlichen Stelle.',
      ],
    })
  if (!isTrusted)
    return problem({
      en: [
        `The certificate of ${host} leads to no authority that this machine trusts.`,
        'Use one from a public authority, and serve its whole chain.',
      ],
      de: [
        `Das Zertifikat von ${host} führt zu keiner Stelle, der diese Maschine vertraut.`,
        'Nehmen Sie eines von einer öffentlichen Stelle, und liefern Sie die ganze Kette aus.',
      ],
    })
  if (daysLeft < DAYS_LEFT_MIN)
    return warning({
      en: [`The certificate of ${host} expires in ${daysLeft} days.`, renew.en],
      de: [`Das Zertifikat von ${host} läuft in ${daysLeft} Tagen ab.`, renew.de],
    })
  return ok({
    en: `The certificate of ${host} is trusted and valid for ${daysLeft} more days.`,
    de: `Das Zertifikat von ${host} ist vertrauenswürdig und noch ${daysLeft} Tage gültig.`,
  })
}

/** True for a certificate of the authority that `tls init` made in its default place. */
function isLocallySigned(leaf: X509Certificate, dataDir: string): boolean {
  const file = join(dataDir, 'tls', 'ca.pem')
  return existsSync(file) && leaf.verify(new X509Certificate(readFileSync(file)).publicKey)
}
