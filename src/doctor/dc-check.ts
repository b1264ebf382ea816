import { type Found, ok, someOf, warning } from '../db/check.ts'
import { lifeOf } from '../signing/certificate.ts'
import { type ReaderCertificate, readReaders } from '../signing/readers.ts'
import { isLocalHost, readOrigins } from '../tenants/origins.ts'
import { isoUtc } from '../time.ts'
import type { Scene } from './scene.ts'
import { notYet, statesOf } from './signing-checks.ts'

/** The wallet call of browsers: whether it exists on our pages, and what wallets get. */
export async function checkDcApi({ deps, tenants }: Scene): Promise<Found> {
  const { publicUrl, dcApi } = deps.config
  if (dcApi.mode === 'off')
    return ok({
      en: 'Wallets are not asked through the browser: VIDIMUS_DC_API is off.',
      de: 'Wallets werden nicht über den Browser gefragt: VIDIMUS_DC_API ist aus.',
    })
  const states = await statesOf(deps)
  if (!states) return notYet()
  const { protocol, hostname } = URL.parse(publicUrl) ?? {}
  // Browsers have it in secure contexts only (W3C Digital Credentials).
  if (protocol === 'http:' && !isLocalHost(hostname ?? ''))
    return warning({
      en: [
        `${publicUrl} is plain http: browsers offer their wallet call on https pages only.`,
        'Put a TLS proxy in front, or set VIDIMUS_TLS_CERT; VIDIMUS_DC_API=off if nobody should use it.',
      ],
      de: [
        `${publicUrl} ist unverschlüsseltes http: Browser rufen Wallets nur auf https-Seiten auf.`,
        'Stellen Sie einen TLS-Proxy davor, oder setzen Sie VIDIMUS_TLS_CERT; VIDIMUS_DC_API=off, wenn es niemand nutzen soll.',
      ],
    })
  const isSelfMade = states[0].authority !== null
  if (dcApi.mode === 'signed' && isSelfMade)
    return warning({
      en: [
        'VIDIMUS_DC_API is signed, but the certificate was issued by this service: wallets do not know who asks.',
        'Have "vidimus signing csr" signed by an authority that your wallets trust, or set VIDIMUS_DC_API=auto.',
      ],
      de: [
        'VIDIMUS_DC_API ist signed, aber das Zertifikat stammt von diesem Dienst: Wallets wissen nicht, wer fragt.',
        'Lassen Sie „vidimus signing csr“ von einer Stelle unterschreiben, der Ihre Wallets vertrauen, oder setzen Sie VIDIMUS_DC_API=auto.',
      ],
    })
  const readers = await readReaders(deps)
  const ending = readers.find(reader => lifeOf(reader, deps.now()) !== 'good')
  if (ending) return endingReader(ending, deps.now())
  const origins = await countOrigins({ deps, tenants })
  const protocols = protocolsOf(dcApi.mode, isSelfMade)
  return ok({
    en: `Browsers are offered ${protocols.join(' and ')}; the certificate was ${isSelfMade ? 'made by this service' : 'imported'}; ${READERS.en(readers)}; ${ORIGINS.en(origins)}.`,
    de: `Browsern wird ${protocols.join(' und ')} angeboten; das Zertifikat ${isSelfMade ? 'stammt von diesem Dienst' : 'wurde eingesetzt'}; ${READERS.de(readers)}; ${ORIGINS.de(origins)}.`,
  })
}

function endingReader({ subject, notAfter, owner }: ReaderCertificate, at: number): Found {
  const day = isoUtc(notAfter).slice(0, 10)
  const command = `vidimus signing import --reader --chain CHAIN.pem${owner === null ? '' : ` --tenant ${owner}`}`
  const hasEnded = notAfter <= at
  return warning({
    en: [
      `The reader certificate ${subject} ${hasEnded ? 'has ended' : 'ends'} on ${day}: it signs no request after that.`,
      `Import its successor: ${command}`,
    ],
    de: [
      `Das Lesezertifikat ${subject} ${hasEnded ? 'ist' : 'läuft'} am ${day} ${hasEnded ? 'abgelaufen' : 'ab'}: Danach signiert es keine Anfrage mehr.`,
      `Setzen Sie seinen Nachfolger ein: ${command}`,
    ],
  })
}

const READERS = {
  en: (readers: readonly ReaderCertificate[]): string =>
    readers.length === 0
      ? 'there is no reader certificate, so org-iso-mdoc requests are not signed'
      : `org-iso-mdoc requests are signed by ${someOf(readers.map(({ subject }) => subject))}`,
  de: (readers: readonly ReaderCertificate[]): string =>
    readers.length === 0
      ? 'es gibt kein Lesezertifikat, Anfragen für org-iso-mdoc sind also nicht signiert'
      : `Anfragen für org-iso-mdoc signiert ${someOf(
          readers.map(({ subject }) => subject),
          'de',
        )}`,
}

function protocolsOf(mode: 'auto' | 'signed' | 'unsigned' | 'iso', isSelfMade: boolean): string[] {
  if (mode === 'iso') return ['org-iso-mdoc']
  const isSigned = mode === 'signed' || (mode === 'auto' && !isSelfMade)
  return [`openid4vp-v1-${isSigned ? 'signed' : 'unsigned'}`, 'org-iso-mdoc']
}

const ORIGINS = {
  en: (count: number): string => {
    if (count === 0) return 'in live sessions only pages of this service may ask'
    return count === 1 ? 'one more origin may ask in live sessions' : `${count} more origins may ask in live sessions`
  },
  de: (count: number): string => {
    if (count === 0) return 'in Live fragen nur Seiten dieses Dienstes'
    return count === 1 ? 'in Live darf ein weiterer Ursprung fragen' : `in Live dürfen ${count} weitere Ursprünge fragen`
  },
}

async function countOrigins({ deps, tenants }: Pick<Scene, 'deps' | 'tenants'>): Promise<number> {
  const lists = await Promise.all((await tenants).map(({ id }) => readOrigins(deps, { tenantId: id, environment: 'live' })))
  return lists.flat().length
}
