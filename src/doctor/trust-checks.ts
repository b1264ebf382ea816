import { X509Certificate } from 'node:crypto'
import { type Found, ok, problem, secondOf, someOf, warning } from '../db/check.ts'
import { covers } from '../openid4vp/trust-anchor.ts'
import { EXPIRY_WARNING_DAYS } from '../signing/certificate.ts'
import { askedBy } from '../templates/minimise.ts'
import { readTemplates } from '../templates/read.ts'
import { isoUtc } from '../time.ts'
import { presetFor } from '../trust/presets.ts'
import { hasHalved, hasNumberGoneBack } from '../trust/record-list.ts'
import { presentAnchor, readAnchors } from '../trust/settings.ts'
import type { SourceView } from '../trust/source.ts'
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
  if (tenants.length === 0) return ok('There are no live keys yet; test sessions trust the sandbox issuer.')
  const at = deps.now()
  const anchors = await liveAnchors(deps, at)
  const current = anchors.filter(({ not_after }) => not_after > isoUtc(at))
  const templates = (await Promise.all(tenants.map(tenant => templatesInUse(deps, tenant.id)))).flat()
  const uncovered = templates.filter(
    ({ types }) => !current.some(({ trusted_for }) => types.some(type => covers(trusted_for, type))),
  )
  if (current.length === 0)
    return problem('No issuer is trusted for live sessions: every session will fail.', howToAdd(uncovered[0]?.types[0]))
  const [first] = uncovered
  if (first) {
    const keys = [...new Set(uncovered.map(({ key }) => key))]
    const serious = uncovered.length === templates.length ? problem : warning
    return serious(`No issuer is trusted in live for what ${someOf(keys)} asks for.`, howToAdd(first.types[0]))
  }
  const soon = isoUtc(at + EXPIRY_WARNING_DAYS * DAY_MS)
  // A list's operator renews its entries.
  const ending = anchors.filter(({ not_after, source }) => source === null && not_after < soon).map(({ label }) => label)
  if (ending.length)
    return warning(`Trusted certificates expire soon or have expired: ${someOf(ending)}.`, 'Import current ones.')
  return ok(`${originsOf(current)} trusted for live sessions.`)
}

type Anchor = ReturnType<typeof presentAnchor>

/** Those that vouch for documents today. */
async function liveAnchors(deps: Scene['deps'], at: number): Promise<Anchor[]> {
  const ended = (await readSources(deps)).filter(source => sourceState(source, at) === 'ended').map(({ id }) => id)
  const anchors = (await readAnchors(deps)).map(presentAnchor)
  return anchors.filter(
    ({ environment, use, source }) => environment === 'live' && use === 'both' && !(source && ended.includes(source)),
  )
}

/**
 * A tenant's own templates, and the built-in ones it used lately: nobody needs issuers for all of
 * those.
 */
async function templatesInUse(deps: Scene['deps'], tenantId: string): Promise<{ key: string; types: string[] }[]> {
  const inUse = new Set(await readTemplatesInUse(deps.db, tenantId))
  const templates = (await readTemplates(deps, tenantId)).filter(({ key, isBuiltin }) => !isBuiltin || inUse.has(key))
  return templates.map(({ key, query }) => ({ key, types: askedBy(query).flatMap(asked => asked.types) }))
}

function howToAdd(type: string | undefined): string {
  const preset = type === undefined ? 'NAME' : presetFor('live', type)
  const one = `vidimus trust add FILE.pem --env live${type === undefined ? '' : ` --for ${type}`}`
  return preset
    ? `Add its list: vidimus trust source add --preset ${preset} --env live; or one issuer: ${one}`
    : `Add one: ${one}`
}

function originsOf(anchors: readonly Anchor[]): string {
  const issuers = new Set(anchors.map(({ fingerprint_sha256 }) => fingerprint_sha256)).size
  const lists = new Set(anchors.flatMap(({ source }) => source ?? [])).size
  const files = anchors.filter(({ source }) => source === null).length
  const from = [...(lists > 0 ? [counted(lists, 'list')] : []), ...(files > 0 ? [counted(files, 'file')] : [])]
  return `${counted(issuers, 'issuer')} from ${from.join(' and ')} ${issuers === 1 ? 'is' : 'are'}`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** What is a problem in live is a warning in test. */
export async function checkTrustLists({ deps }: Scene): Promise<Found> {
  const at = deps.now()
  const sources = await readSources(deps)
  if (sources.length === 0) return ok('There are no trust lists.')
  const serious = sources.flatMap(source => seriousOf(source, at))
  const inLive = serious.filter(({ source }) => source.environment === 'live')
  if (inLive.length > 0) return problem(sentencesOf(inLive), inLive[0]!.remedy)
  const lighter = [
    ...serious,
    ...sources.filter(({ environment }) => environment === 'live').flatMap(source => lighterOf(source, at)),
  ]
  if (lighter.length > 0) return warning(sentencesOf(lighter), lighter[0]!.remedy)
  return ok(sources.map(describe).join(' '))
}

type Trouble = { source: SourceView; text: string; remedy: string }

const sentencesOf = (troubles: readonly Trouble[]): string =>
  troubles.map(({ source, text }) => `${source.label} ${text}.`).join(' ')

function seriousOf(source: SourceView, at: number): Trouble[] {
  const { id, failure, failureDetail, failureSigner, kind, pins, signer } = source
  const fetchIt = `Look at it with "vidimus trust source refresh ${id}", or bring it: vidimus trust source refresh ${id} --file LIST`
  // A VICAL's signer may be certified by the pinned authority.
  const isUnpinned = kind !== 'vical' && !pins.some(({ fingerprint }) => fingerprint === signer)
  return [
    ...(sourceState(source, at) === 'ended'
      ? [{ source, text: `has ended on ${secondOf(endOf(source))}: its issuers count no more`, remedy: fetchIt }]
      : []),
    ...(failure === 'signer_unknown'
      ? [
          {
            source,
            text: `is ${failureDetail}`,
            remedy: `Compare the fingerprint with the operator's publication, then: vidimus trust source pin ${id} ${failureSigner ?? 'FINGERPRINT'}`,
          },
        ]
      : []),
    ...(isUnpinned && failure !== 'signer_unknown'
      ? [{ source, text: `was signed by ${signer}, which is not pinned any more`, remedy: fetchIt }]
      : []),
    ...(source.entries === 0
      ? [{ source, text: 'names no issuer that counts any more', remedy: 'Ask its operator, or add its issuers by file.' }]
      : []),
  ]
}

function lighterOf(source: SourceView, at: number): Trouble[] {
  const { id, failure, failureDetail, failingSince, difference, sequence } = source
  const state = sourceState(source, at)
  const look = `See "vidimus trust source show ${id}".`
  const trouble = (holds: boolean, text: string, remedy = look): Trouble[] => (holds ? [{ source, text, remedy }] : [])
  const bring = `Let this machine reach it, or bring it: vidimus trust source refresh ${id} --file LIST`
  return [
    ...trouble(
      state === 'stale',
      `has been out of date since ${secondOf(nextUpdateOf(source))} and counts until ${secondOf(endOf(source))}`,
      bring,
    ),
    ...trouble(state === 'fresh' && endOf(source) - at < END_WARNING_MS, `counts only until ${secondOf(endOf(source))}`, bring),
    ...trouble(
      failure !== null && failure !== 'signer_unknown' && at - (failingSince ?? at) > FAILING_WARNING_MS,
      `could not be updated since ${secondOf(failingSince ?? at)}: ${failureDetail}`,
      bring,
    ),
    ...pinsEnding(source, at).flatMap(text =>
      trouble(true, text, `Pin its successor: vidimus trust source pin ${id} FINGERPRINT`),
    ),
    ...trouble(hasHalved(source, source.entries), `names ${source.entries} issuers, and ${difference?.before.entries} before`),
    ...trouble(hasNumberGoneBack(source), `has number ${sequence}, and ${difference?.before.sequence} before`),
    ...trouble(
      /\btest\b/i.test(source.name),
      `calls itself a test list (${source.name})`,
      `Remove it: vidimus trust source remove ${id}`,
    ),
  ]
}

/** A pin without a certificate has signed nothing yet. */
function pinsEnding({ pins }: SourceView, at: number): string[] {
  return pins.flatMap(({ certificate, fingerprint }) => {
    const end = certificate === null ? Number.POSITIVE_INFINITY : new X509Certificate(certificate).validToDate.getTime()
    return end - at < EXPIRY_WARNING_DAYS * DAY_MS
      ? [`has a signer that ends on ${isoUtc(end).slice(0, 10)} (${fingerprint.slice(0, 16)}…)`]
      : []
  })
}

function describe(source: SourceView): string {
  const { label, sequence, issuedAt, entries, checkedAt } = source
  const number = sequence === null ? '' : ` number ${sequence},`
  const day = (ms: number) => isoUtc(ms).slice(0, 10)
  return `${label}:${number} issued ${day(issuedAt)}, next ${day(nextUpdateOf(source))}, ${counted(entries, 'issuer')}, looked at ${secondOf(checkedAt)}.`
}
