import { X509Certificate } from 'node:crypto'
import { type Found, notSetUp, ok, problem, secondOf, someOf, warning } from '../db/check.ts'
import { hasStrongKey } from '../openid4vp/certification-path.ts'
import { covers } from '../openid4vp/trust-anchor.ts'
import { describeCertificate } from '../openid4vp/x509.ts'
import { EXPIRY_WARNING_DAYS } from '../signing/certificate.ts'
import { askedBy } from '../templates/minimise.ts'
import { readTemplates } from '../templates/read.ts'
import { isoUtc } from '../time.ts'
import { readBlocks } from '../trust/blocks.ts'
import { presetFor } from '../trust/presets.ts'
import { hasHalved, hasNumberGoneBack } from '../trust/record-list.ts'
import { presentAnchor, readAnchors } from '../trust/settings.ts'
import { type SourceView, WITHDRAWN } from '../trust/source.ts'
import { readSources } from '../trust/sources.ts'
import { endOf, nextUpdateOf, sourceState } from '../trust/state.ts'
import { readTemplatesInUse } from '../verifications/figures.ts'
import type { Scene } from './scene.ts'

const DAY_MS = 86_400_000
const END_WARNING_MS = 7 * DAY_MS
const FAILING_WARNING_MS = DAY_MS

/** Each template used in live needs a trusted issuer. */
export async function checkAnchors({ deps, liveTenants }: Scene): Promise<Found> {
  const tenants = await liveTenants
  if (tenants.length === 0)
    return notSetUp({
      en: ['There are no live keys yet; test sessions trust the sandbox issuer.', 'See Go live in the dashboard.'],
      de: [
        'Es gibt noch keine Schlüssel für Live; Testsitzungen vertrauen dem Sandbox-Aussteller.',
        'Siehe „Live gehen“ im Dashboard.',
      ],
    })
  const at = deps.now()
  const anchors = (await liveAnchors(deps, at)).filter(({ isUsable }) => isUsable)
  const current = anchors.filter(({ not_after }) => not_after > isoUtc(at))
  const templates = (await Promise.all(tenants.map(tenant => templatesInUse(deps, tenant.id)))).flat()
  const uncovered = templates.filter(
    ({ types }) => !current.some(({ trusted_for }) => types.some(type => covers(trusted_for, type))),
  )
  const howTo = (type: string | undefined) => ({ en: howToAdd(type, 'en'), de: howToAdd(type, 'de') })
  if (current.length === 0) {
    const remedy = howTo(uncovered[0]?.types[0])
    return problem({
      en: ['No issuer is trusted for live sessions: every session will fail.', remedy.en],
      de: ['In Live wird keinem Aussteller vertraut: Jede Prüfung wird scheitern.', remedy.de],
    })
  }
  const [first] = uncovered
  if (first) {
    const keys = [...new Set(uncovered.map(({ key }) => key))]
    const serious = uncovered.length === templates.length ? problem : warning
    const remedy = howTo(first.types[0])
    return serious({
      en: [`No issuer is trusted in live for what ${someOf(keys)} asks for.`, remedy.en],
      de: [`In Live wird keinem Aussteller für das vertraut, wonach ${someOf(keys, 'de')} fragt.`, remedy.de],
    })
  }
  const soon = isoUtc(at + EXPIRY_WARNING_DAYS * DAY_MS)
  // A list's operator renews its entries.
  const ending = anchors.filter(({ not_after, source }) => source === null && not_after < soon).map(({ label }) => label)
  if (ending.length)
    return warning({
      en: [`Trusted certificates expire soon or have expired: ${someOf(ending)}.`, 'Import current ones.'],
      de: [`Vertraute Zertifikate laufen bald ab oder sind abgelaufen: ${someOf(ending, 'de')}.`, 'Fügen Sie gültige hinzu.'],
    })
  return ok(originsOf(current))
}

type Anchor = ReturnType<typeof presentAnchor> & { isUsable: boolean }

/** As "trust add" judges it. */
function isUsable(pem: string): boolean {
  const described = describeCertificate(new X509Certificate(pem).raw)
  return described !== undefined && hasStrongKey(described)
}

/** Those that vouch for documents today. */
async function liveAnchors(deps: Scene['deps'], at: number): Promise<Anchor[]> {
  const ended = (await readSources(deps)).filter(source => sourceState(source, at) === 'ended').map(({ id }) => id)
  const blocks = await readBlocks(deps)
  const blocked = new Set(blocks.filter(({ environment }) => environment === 'live').map(({ fingerprint }) => fingerprint))
  const anchors = (await readAnchors(deps)).map(row => ({ ...presentAnchor(row), isUsable: isUsable(row.certificate) }))
  return anchors.filter(
    ({ environment, use, source, fingerprint_sha256: fingerprint }) =>
      environment === 'live' &&
      (use === 'both' || use === 'documents') &&
      !(source && ended.includes(source)) &&
      !blocked.has(fingerprint),
  )
}

/** A tenant's own templates, and the built-in ones it used lately: nobody needs issuers for all of those. */
async function templatesInUse(deps: Scene['deps'], tenantId: string): Promise<{ key: string; types: string[] }[]> {
  const inUse = new Set(await readTemplatesInUse(deps.db, tenantId))
  const templates = (await readTemplates(deps, tenantId)).filter(({ key, isBuiltin }) => !isBuiltin || inUse.has(key))
  return templates.map(({ key, query }) => ({ key, types: askedBy(query).flatMap(asked => asked.types) }))
}

function howToAdd(type: string | undefined, language: Language): string {
  const preset = type === undefined ? 'NAME' : presetFor('live', type)
  const one = `vidimus trust add FILE.pem --env live${type === undefined ? '' : ` --for ${type}`}`
  const list = `vidimus trust source add --preset ${preset} --env live`
  if (language === 'en') return preset ? `Add its list: ${list}; or one issuer: ${one}` : `Add one: ${one}`
  return preset ? `Fügen Sie seine Liste hinzu: ${list}; oder einen Aussteller: ${one}` : `Fügen Sie einen hinzu: ${one}`
}

function originsOf(anchors: readonly Anchor[]): Record<Language, string> {
  const issuers = new Set(anchors.map(({ fingerprint_sha256 }) => fingerprint_sha256)).size
  const lists = new Set(anchors.flatMap(({ source }) => source ?? [])).size
  const files = anchors.filter(({ source }) => source === null).length
  const from = (language: Language) => [
    ...(lists > 0 ? [NOUNS[language].list(lists)] : []),
    ...(files > 0 ? [NOUNS[language].file(files)] : []),
  ]
  return {
    en: `${NOUNS.en.issuer(issuers)} from ${from('en').join(' and ')} ${issuers === 1 ? 'is' : 'are'} trusted for live sessions.`,
    de: `In Live ${issuers === 1 ? 'wird' : 'werden'} ${NOUNS.de.issuer(issuers)} aus ${from('de').join(' und ')} vertraut.`,
  }
}

type Language = 'en' | 'de'

const counted = (one: string, many: string) => (count: number) => `${count} ${count === 1 ? one : many}`

/** In the case that the sentences above need. */
const NOUNS = {
  en: { issuer: counted('issuer', 'issuers'), list: counted('list', 'lists'), file: counted('file', 'files') },
  de: { issuer: counted('Aussteller', 'Ausstellern'), list: counted('Liste', 'Listen'), file: counted('Datei', 'Dateien') },
}

/** What is a problem in live is a warning in test. */
export async function checkTrustLists({ deps }: Scene): Promise<Found> {
  const at = deps.now()
  const sources = await readSources(deps)
  if (sources.length === 0)
    return notSetUp({
      en: ['There are no trust lists.', 'Add one under Trust, or trust issuers one by one.'],
      de: ['Es gibt keine Vertrauenslisten.', 'Fügen Sie unter Vertrauen eine hinzu, oder vertrauen Sie Ausstellern einzeln.'],
    })
  const serious = sources.flatMap(source => seriousOf(source, at))
  const inLive = serious.filter(({ source }) => source.environment === 'live')
  if (inLive.length > 0) return problem(toldOf(inLive))
  const lighter = [
    ...serious,
    ...sources.filter(({ environment }) => environment === 'live').flatMap(source => lighterOf(source, at)),
  ]
  if (lighter.length > 0) return warning(toldOf(lighter))
  return ok({
    en: sources.map(source => describe(source, 'en')).join(' '),
    de: sources.map(source => describe(source, 'de')).join(' '),
  })
}

type Both = Readonly<Record<Language, string>>

/** The text continues the name of the list. */
type Trouble = { source: SourceView; text: Both; remedy: Both }

function toldOf(troubles: readonly Trouble[]) {
  const sentences = (language: Language) => troubles.map(({ source, text }) => `${source.label} ${text[language]}.`).join(' ')
  return { en: [sentences('en'), remediesOf(troubles, 'en')], de: [sentences('de'), remediesOf(troubles, 'de')] } as const
}

/** Remedies end with commands, so each is on a line of its own. One list can have several troubles with the same remedy. */
function remediesOf(troubles: readonly Trouble[], language: Language): string {
  const lines = new Set(troubles.map(({ source, remedy }) => `${source.label}: ${remedy[language]}`))
  return lines.size === 1 ? troubles[0]!.remedy[language] : [...lines].join('\n')
}

function seriousOf(source: SourceView, at: number): Trouble[] {
  const { id, digest, failure, failureDetail, failureSigner, kind, pins, signer } = source
  const refresh = `vidimus trust source refresh ${id}`
  const fetchIt = {
    en: `Look at it with "${refresh}", or bring it: ${refresh} --file LIST`,
    de: `Sehen Sie nach mit „${refresh}“, oder bringen Sie sie mit: ${refresh} --file LISTE`,
  }
  const trouble = (holds: boolean, text: Both, remedy: Both): Trouble[] => (holds ? [{ source, text, remedy }] : [])
  // A VICAL's signer may be certified by the pinned authority.
  const isUnpinned = kind !== 'vical' && !pins.some(({ fingerprint }) => fingerprint === signer)
  const isWithdrawn = digest === WITHDRAWN
  const end = secondOf(endOf(source))
  return [
    ...trouble(
      sourceState(source, at) === 'ended',
      { en: `has ended on ${end}: its issuers count no more`, de: `ist am ${end} abgelaufen: Ihre Aussteller zählen nicht mehr` },
      fetchIt,
    ),
    ...trouble(
      failure === 'signer_unknown',
      { en: `is ${failureDetail}`, de: `hat einen Unterzeichner, den Sie nicht festgelegt haben (${failureDetail})` },
      {
        en: `Compare the fingerprint with the operator's publication, then: vidimus trust source pin ${id} ${failureSigner ?? 'FINGERPRINT'}`,
        de: `Vergleichen Sie den Fingerabdruck mit der Veröffentlichung des Betreibers, dann: vidimus trust source pin ${id} ${failureSigner ?? 'FINGERABDRUCK'}`,
      },
    ),
    ...trouble(
      isWithdrawn,
      {
        en: 'was withdrawn with its signer: none of its issuers counts',
        de: 'wurde mit ihrem Unterzeichner zurückgezogen: Keiner ihrer Aussteller zählt',
      },
      fetchIt,
    ),
    ...trouble(
      isUnpinned && !isWithdrawn && failure !== 'signer_unknown',
      {
        en: `was signed by ${signer}, which is not pinned any more, and counts until ${end}`,
        de: `wurde von ${signer} unterzeichnet, der nicht mehr festgelegt ist, und zählt bis ${end}`,
      },
      fetchIt,
    ),
    ...trouble(
      source.entries === 0 && !isWithdrawn,
      { en: 'names no issuer that counts any more', de: 'nennt keinen Aussteller mehr, der zählt' },
      {
        en: 'Ask its operator, or add its issuers by file.',
        de: 'Fragen Sie den Betreiber, oder fügen Sie ihre Aussteller per Datei hinzu.',
      },
    ),
  ]
}

function lighterOf(source: SourceView, at: number): Trouble[] {
  const { id, failure, failureDetail, failingSince, difference, sequence, entries, name } = source
  const state = sourceState(source, at)
  const look = { en: `See "vidimus trust source show ${id}".`, de: `Siehe „vidimus trust source show ${id}“.` }
  const trouble = (holds: boolean, text: Both, remedy: Both = look): Trouble[] => (holds ? [{ source, text, remedy }] : [])
  const refresh = `vidimus trust source refresh ${id} --file`
  const bring = {
    en: `Let this machine reach it, or bring it: ${refresh} LIST`,
    de: `Lassen Sie diese Maschine sie erreichen, oder bringen Sie sie mit: ${refresh} LISTE`,
  }
  const [due, end, since] = [secondOf(nextUpdateOf(source)), secondOf(endOf(source)), secondOf(failingSince ?? at)]
  return [
    ...trouble(
      state === 'stale',
      { en: `has been out of date since ${due} and counts until ${end}`, de: `ist seit ${due} veraltet und zählt bis ${end}` },
      bring,
    ),
    ...trouble(
      state === 'fresh' && endOf(source) - at < END_WARNING_MS,
      { en: `counts only until ${end}`, de: `zählt nur bis ${end}` },
      bring,
    ),
    ...trouble(
      failure !== null && failure !== 'signer_unknown' && at - (failingSince ?? at) > FAILING_WARNING_MS,
      {
        en: `could not be updated since ${since}: ${failureDetail}`,
        de: `ließ sich seit ${since} nicht aktualisieren (${failure})`,
      },
      bring,
    ),
    ...pinsEnding(source, at).flatMap(text =>
      trouble(true, text, {
        en: `Pin its successor: vidimus trust source pin ${id} FINGERPRINT`,
        de: `Legen Sie den Nachfolger fest: vidimus trust source pin ${id} FINGERABDRUCK`,
      }),
    ),
    ...trouble(hasHalved(source, entries) && source.digest !== WITHDRAWN, {
      en: `names ${entries} issuers, and ${difference?.before.entries} before`,
      de: `nennt ${entries} Aussteller, vorher ${difference?.before.entries}`,
    }),
    ...trouble(hasNumberGoneBack(source), {
      en: `has number ${sequence}, and ${difference?.before.sequence} before`,
      de: `hat die Nummer ${sequence}, vorher ${difference?.before.sequence}`,
    }),
    ...trouble(
      /\btest\b/i.test(name),
      { en: `calls itself a test list (${name})`, de: `nennt sich selbst Testliste (${name})` },
      { en: `Remove it: vidimus trust source remove ${id}`, de: `Entfernen Sie sie: vidimus trust source remove ${id}` },
    ),
  ]
}

/** A pin without a certificate has signed nothing yet. */
function pinsEnding({ pins }: SourceView, at: number): Both[] {
  return pins.flatMap(({ certificate, fingerprint }) => {
    const end = certificate === null ? Number.POSITIVE_INFINITY : new X509Certificate(certificate).validToDate.getTime()
    if (end - at >= EXPIRY_WARNING_DAYS * DAY_MS) return []
    const [day, begin] = [isoUtc(end).slice(0, 10), `${fingerprint.slice(0, 16)}…`]
    return [
      { en: `has a signer that ends on ${day} (${begin})`, de: `hat einen Unterzeichner, der am ${day} abläuft (${begin})` },
    ]
  })
}

function describe(source: SourceView, language: Language): string {
  const { label, sequence, issuedAt, entries, checkedAt } = source
  const day = (ms: number) => isoUtc(ms).slice(0, 10)
  const [issued, next, looked] = [day(issuedAt), day(nextUpdateOf(source)), secondOf(checkedAt)]
  if (language === 'en') {
    const number = sequence === null ? '' : ` number ${sequence},`
    return `${label}:${number} issued ${issued}, next ${next}, ${NOUNS.en.issuer(entries)}, looked at ${looked}.`
  }
  const number = sequence === null ? '' : ` Nummer ${sequence},`
  return `${label}:${number} herausgegeben ${issued}, nächste ${next}, ${entries} Aussteller, angesehen ${looked}.`
}
