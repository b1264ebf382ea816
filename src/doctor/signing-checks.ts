import { X509Certificate } from 'node:crypto'
import { type Found, notSetUp, ok, problem, someOf, warning } from '../db/check.ts'
import { describeCertificate } from '../openid4vp/x509.ts'
import { brokenRules } from '../signing/access-profile.ts'
import { isRunningOut, lifeOf, SigningProblem, type SigningState, signingStates } from '../signing/certificate.ts'
import { isForHost, leadsTo } from '../signing/import.ts'
import { certificatesOf, hostOf } from '../signing/keys.ts'
import { readAccessAuthorities } from '../trust/sources.ts'
import type { Scene } from './scene.ts'

const HOUR_MS = 3_600_000

/** The client id that wallets see must be in the signing certificate (OpenID4VP 1.0 § 5.9.3). */
export async function checkClientId({ deps }: Scene): Promise<Found> {
  const { clientIdPrefix, profile } = deps.config.wallet
  const states = await statesOf(deps)
  if (!states) return notYet()
  const host = hostOf(deps.config.publicUrl)
  if (clientIdPrefix === 'x509_hash')
    return ok({
      en: `Wallets know this service by the hash of its certificate; profile ${profile}.`,
      de: `Wallets erkennen diesen Dienst am Hash seines Zertifikats; Profil ${profile}.`,
    })
  const other = states.find(({ chain }) => !isForHost(new X509Certificate(chain), host))
  if (!other)
    return ok({
      en: `Wallets know this service as ${host}, and its certificate says so; profile ${profile}.`,
      de: `Wallets kennen diesen Dienst als ${host}, und sein Zertifikat sagt das auch; Profil ${profile}.`,
    })
  return problem({
    en: [
      `VIDIMUS_CLIENT_ID is x509_san_dns, but the signing certificate${OF_OWNER.en(other)} is not for ${host}: wallets will refuse it.`,
      'Have "vidimus signing csr" signed and import it, or set VIDIMUS_CLIENT_ID=x509_hash.',
    ],
    de: [
      `VIDIMUS_CLIENT_ID ist x509_san_dns, aber das Signaturzertifikat${OF_OWNER.de(other)} gilt nicht für ${host}: Wallets werden es ablehnen.`,
      'Lassen Sie „vidimus signing csr“ unterschreiben und setzen Sie es ein, oder setzen Sie VIDIMUS_CLIENT_ID=x509_hash.',
    ],
  })
}

/** Certificates in use, the installation's first; undefined before the first start. */
export async function statesOf(deps: Scene['deps']): Promise<[SigningState, ...SigningState[]] | undefined> {
  try {
    const [installation, ...tenants] = await signingStates(deps)
    return [installation!, ...tenants.filter(({ isOwn }) => isOwn)]
  } catch (error) {
    if (error instanceof SigningProblem) return undefined
    throw error
  }
}

export const notYet = (): Found =>
  problem({
    en: ['There is no signing key yet.', 'Start the service once: the first start creates it.'],
    de: ['Es gibt noch keinen Signaturschlüssel.', 'Starten Sie den Dienst einmal: Der erste Start erzeugt ihn.'],
  })

const OF_OWNER = {
  en: ({ owner }: SigningState): string => (owner === null ? '' : ` of tenant ${owner}`),
  de: ({ owner }: SigningState): string => (owner === null ? '' : ` des Geschäfts ${owner}`),
}

export async function checkSigning({ deps, liveTenants }: Scene): Promise<Found> {
  const states = await statesOf(deps)
  if (!states) return notYet()
  const at = deps.now()
  const ending = findEnding(states, at)
  if (ending) return ending
  const [installation] = states
  const isSeen = (await liveTenants).some(({ id }) => !states.some(({ owner }) => owner === id))
  if (installation.authority && isSeen) return warning(SELF_MADE)
  const flaws = await flawsOf(deps, states)
  if (flaws.length > 0)
    return warning({
      en: [
        `EU wallets may refuse the certificate that they see: ${someOf(flaws.map(({ en }) => en))}.`,
        'Ask the authority that issued it; for a chain that holds too much, import it again.',
      ],
      de: [
        `EU-Wallets lehnen das Zertifikat, das sie sehen, vielleicht ab: ${someOf(
          flaws.map(({ de }) => de),
          'de',
        )}.`,
        'Fragen Sie die Stelle, die es ausgestellt hat; ist die Kette zu lang, setzen Sie sie neu ein.',
      ],
    })
  if (installation.authority && states.length === 1) return notSetUp(SELF_MADE)
  return ok({
    en: `The certificate that wallets see is valid for ${timeLeft(installation, at).en}${othersOf(states).en}.`,
    de: `Das Zertifikat, das Wallets sehen, läuft in ${timeLeft(installation, at).de} ab${othersOf(states).de}.`,
  })
}

const SELF_MADE = {
  en: [
    'The certificate that wallets see was issued by this service: only wallets that have its authority trust it.',
    'Have "vidimus signing csr" signed by an authority that your wallets trust.',
  ],
  de: [
    'Das Zertifikat, das Wallets sehen, stammt von diesem Dienst: Nur Wallets, die seine Stelle kennen, vertrauen ihm.',
    'Lassen Sie „vidimus signing csr“ von einer Stelle unterschreiben, der Ihre Wallets vertrauen.',
  ],
} as const

/** The worst first. */
function findEnding(states: SigningState[], at: number): Found | undefined {
  const renew = {
    en: 'Renew it with "vidimus signing csr" and "vidimus signing import".',
    de: 'Erneuern Sie es mit „vidimus signing csr“ und „vidimus signing import“.',
  }
  const ended = states.find(state => lifeOf(state, at) === 'ended')
  if (ended)
    return problem({
      en: [`The certificate that wallets see${OF_OWNER.en(ended)} has expired: they refuse every request.`, renew.en],
      de: [`Das Zertifikat, das Wallets sehen${OF_OWNER.de(ended)}, ist abgelaufen: Sie lehnen jede Anfrage ab.`, renew.de],
    })
  const urgent = states.find(state => lifeOf(state, at) === 'urgent' && isRunningOut(state, at))
  const soon = states.find(state => isRunningOut(state, at))
  const told = (state: SigningState) =>
    ({
      en: [`The certificate that wallets see${OF_OWNER.en(state)} expires in ${timeLeft(state, at).en}.`, renew.en],
      de: [`Das Zertifikat, das Wallets sehen${OF_OWNER.de(state)}, läuft in ${timeLeft(state, at).de} ab.`, renew.de],
    }) as const
  if (urgent) return problem(told(urgent))
  return soon && warning(told(soon))
}

function timeLeft({ notAfter }: SigningState, at: number): { en: string; de: string } {
  const hours = Math.floor((notAfter - at) / HOUR_MS)
  const days = Math.floor(hours / 24)
  return hours >= 48 ? { en: `${days} days`, de: `${days} Tagen` } : { en: `${hours} hours`, de: `${hours} Stunden` }
}

function othersOf([, ...others]: SigningState[]): { en: string; de: string } {
  const count = others.length
  if (count === 0) return { en: '', de: '' }
  return {
    en: `; ${count} ${count === 1 ? 'tenant has' : 'tenants have'} their own`,
    de: `; ${count} ${count === 1 ? 'Geschäft hat ein eigenes' : 'Geschäfte haben eigene'}`,
  }
}

type Flaw = { en: string; de: string }

/** Of imported certificates, against ETSI TS 119 411-8 and the loaded list of access authorities. */
async function flawsOf(deps: Scene['deps'], states: SigningState[]): Promise<Flaw[]> {
  const authorities = await readAccessAuthorities(deps)
  return states.flatMap(state => {
    if (state.authority) return []
    const chain = certificatesOf(state.chain).map(base64 => new X509Certificate(Buffer.from(base64, 'base64')))
    const leaf = describeCertificate(chain[0]!.raw)
    const listed = new Set(authorities.map(pem => new X509Certificate(pem).fingerprint256))
    const flaws: Flaw[] = [
      ...(leaf ? brokenRules(leaf) : []),
      ...(chain.some(({ fingerprint256 }) => listed.has(fingerprint256)) ? [LISTED_INSIDE] : []),
      ...(authorities.length > 0 && !leadsTo(chain, authorities) ? [NO_PATH] : []),
    ]
    return flaws.map(({ en, de }) => ({ en: `${en}${OF_OWNER.en(state)}`, de: `${de}${OF_OWNER.de(state)}` }))
  })
}

const LISTED_INSIDE = { en: 'a listed authority inside the chain', de: 'eine gelistete Stelle in der Kette' }
const NO_PATH = {
  en: 'no path to an access authority on the loaded list',
  de: 'kein Pfad zu einer Stelle auf der geladenen Liste',
}
