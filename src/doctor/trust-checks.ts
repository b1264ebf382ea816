import { X509Certificate } from 'node:crypto'
import type { Environment } from '../access/scopes.ts'
import { isoUtc } from '../base/time.ts'
import { found, notSetUp, ok, problem, secondOf, warning } from '../db/check.ts'
import { covers } from '../openid4vp/trust/trust-anchor.ts'
import { hasStrongKey } from '../openid4vp/x509/certification-path.ts'
import { describeCertificate } from '../openid4vp/x509/x509.ts'
import { EXPIRY_WARNING_DAYS } from '../signing/certificate.ts'
import { askedBy } from '../templates/minimise.ts'
import { readBlocks } from '../trust/blocks.ts'
import { presetFor } from '../trust/lists/presets.ts'
import { hasHalved, hasNumberGoneBack } from '../trust/lists/record-list.ts'
import { type SourceView, WITHDRAWN } from '../trust/lists/source.ts'
import { readSources } from '../trust/lists/sources.ts'
import { presentAnchor, readAnchors } from '../trust/settings.ts'
import { endOf, nextUpdateOf, sourceState } from '../trust/state.ts'
import { readUsedTemplates } from '../verifications/template-use.ts'
import type { Scene } from './scene.ts'

const DAY_MS = 86_400_000
const END_WARNING_MS = 7 * DAY_MS
const FAILING_WARNING_MS = DAY_MS

/** Each template used in live needs a trusted issuer. */
export async function checkAnchors({ deps, liveTenants }: Scene) {
  const tenants = await liveTenants
  if (tenants.length === 0) return notSetUp('no_live_keys')
  const at = deps.now()
  const anchors = (await anchorsIn(deps, 'live', at)).filter(({ isUsable }) => isUsable)
  const current = anchors.filter(({ not_after }) => not_after > isoUtc(at))
  const templates = (await Promise.all(tenants.map(tenant => templatesInUse(deps, tenant.id)))).flat()
  const uncovered = templates.filter(
    ({ types }) => !current.some(({ trusted_for }) => types.some(type => covers(trusted_for, type))),
  )
  if (current.length === 0) return problem('no_issuer', howToAdd(uncovered[0]?.types[0]))
  const [first] = uncovered
  if (first) {
    const keys = [...new Set(uncovered.map(({ key }) => key))]
    const serious = found(uncovered.length === templates.length ? 'problem' : 'warning')
    return serious('issuers_missing', { templates: keys, ...howToAdd(first.types[0]) })
  }
  const soon = isoUtc(at + EXPIRY_WARNING_DAYS * DAY_MS)
  // A list's operator renews its entries.
  const ending = anchors.filter(({ not_after, source }) => source === null && not_after < soon).map(({ label }) => label)
  return ending.length > 0 ? warning('issuers_ending', { issuers: ending }) : ok('issuers_trusted', countsOf(current))
}

type Anchor = ReturnType<typeof presentAnchor> & { isUsable: boolean }

/** As "trust add" judges it. */
function isUsable(pem: string): boolean {
  const described = describeCertificate(new X509Certificate(pem).raw)
  return described !== undefined && hasStrongKey(described)
}

/** Those that vouch for documents today. */
export async function anchorsIn(deps: Scene['deps'], environment: Environment, at: number): Promise<Anchor[]> {
  const ended = (await readSources(deps)).filter(source => sourceState(source, at) === 'ended').map(({ id }) => id)
  const blocks = await readBlocks(deps)
  const blocked = new Set(blocks.filter(block => block.environment === environment).map(({ fingerprint }) => fingerprint))
  const anchors = (await readAnchors(deps)).map(row => ({ ...presentAnchor(row), isUsable: isUsable(row.certificate) }))
  return anchors.filter(
    ({ environment: where, use, source, fingerprint_sha256: fingerprint }) =>
      where === environment &&
      (use === 'both' || use === 'documents') &&
      !(source && ended.includes(source)) &&
      !blocked.has(fingerprint),
  )
}

/** A tenant's own templates, and the built-in ones it used lately: nobody needs issuers for all of those. */
async function templatesInUse(deps: Scene['deps'], tenantId: string): Promise<{ key: string; types: string[] }[]> {
  const templates = await readUsedTemplates(deps, tenantId)
  return templates.map(({ key, query }) => ({ key, types: askedBy(query).flatMap(asked => asked.types) }))
}

/** Commands; the first one where a list names such issuers. */
function howToAdd(type: string | undefined): { list: string | null; one: string } {
  const preset = type === undefined ? 'NAME' : presetFor('live', type)
  return {
    list: preset ? `vidimus trust source add --preset ${preset} --env live` : null,
    one: `vidimus trust add FILE.pem --env live${type === undefined ? '' : ` --for ${type}`}`,
  }
}

const countsOf = (anchors: readonly Anchor[]) => ({
  issuers: new Set(anchors.map(({ fingerprint_sha256 }) => fingerprint_sha256)).size,
  lists: new Set(anchors.flatMap(({ source }) => source ?? [])).size,
  files: anchors.filter(({ source }) => source === null).length,
})

/** What is a problem in live is a warning in test. */
export async function checkTrustLists({ deps }: Scene) {
  const at = deps.now()
  const sources = await readSources(deps)
  if (sources.length === 0) return notSetUp('no_lists')
  const live = sources.filter(({ environment }) => environment === 'live')
  const inLive = live.flatMap(source => seriousOf(source, at))
  if (inLive.length > 0) return problem('lists_troubled', { troubles: inLive })
  const troubles = [...sources.flatMap(source => seriousOf(source, at)), ...live.flatMap(source => lighterOf(source, at))]
  return troubles.length > 0 ? warning('lists_troubled', { troubles }) : ok('lists_good', { lists: sources.map(describe) })
}

/** Takes a trouble of a list if it holds. */
const troubleOf =
  ({ label }: SourceView) =>
  <Code extends string, Values extends object>(holds: boolean, code: Code, values: Values) =>
    holds ? [{ list: label, code, values }] : []

function seriousOf(source: SourceView, at: number) {
  const { id, digest, failure, failureDetail, failureSigner, kind, pins, signer } = source
  const trouble = troubleOf(source)
  // A VICAL's signer may be certified by the pinned authority.
  const isUnpinned = kind !== 'vical' && !pins.some(({ fingerprint }) => fingerprint === signer)
  const isWithdrawn = digest === WITHDRAWN
  const end = secondOf(endOf(source))
  return [
    ...trouble(sourceState(source, at) === 'ended', 'list_ended', { id, end }),
    ...trouble(failure === 'signer_unknown', 'list_signer_unknown', { id, failure: failureDetail, signer: failureSigner }),
    ...trouble(isWithdrawn, 'list_withdrawn', { id }),
    ...trouble(isUnpinned && !isWithdrawn && failure !== 'signer_unknown', 'list_signer_unpinned', { id, signer, end }),
    ...trouble(source.entries === 0 && !isWithdrawn, 'list_empty', {}),
  ]
}

function lighterOf(source: SourceView, at: number) {
  const { id, failure, failureDetail, failingSince, difference, sequence, entries, name } = source
  const trouble = troubleOf(source)
  const state = sourceState(source, at)
  const end = secondOf(endOf(source))
  const since = failingSince ?? at
  const isFailing = failure !== null && failure !== 'signer_unknown' && at - since > FAILING_WARNING_MS
  const before = difference?.before
  return [
    ...trouble(state === 'stale', 'list_stale', { id, due: secondOf(nextUpdateOf(source)), end }),
    ...trouble(state === 'fresh' && endOf(source) - at < END_WARNING_MS, 'list_ending', { id, end }),
    ...trouble(isFailing, 'list_failing', { id, since: secondOf(since), failure, detail: failureDetail }),
    ...pinsEnding(source, at).flatMap(pin => trouble(true, 'list_pin_ending', { id, ...pin })),
    ...trouble(hasHalved(source, entries) && source.digest !== WITHDRAWN, 'list_halved', {
      id,
      entries,
      before: before?.entries,
    }),
    ...trouble(hasNumberGoneBack(source), 'list_number_back', { id, sequence, before: before?.sequence }),
    ...trouble(/\btest\b/i.test(name), 'list_for_tests', { id, name }),
  ]
}

/** A pin without a certificate has signed nothing yet. */
function pinsEnding({ pins }: SourceView, at: number): { day: string; fingerprint: string }[] {
  return pins.flatMap(({ certificate, fingerprint }) => {
    const end = certificate === null ? Number.POSITIVE_INFINITY : new X509Certificate(certificate).validToDate.getTime()
    if (end - at >= EXPIRY_WARNING_DAYS * DAY_MS) return []
    return [{ day: dayOf(end), fingerprint: `${fingerprint.slice(0, 16)}…` }]
  })
}

const describe = (source: SourceView) => ({
  label: source.label,
  sequence: source.sequence,
  issued: dayOf(source.issuedAt),
  next: dayOf(nextUpdateOf(source)),
  entries: source.entries,
  looked: secondOf(source.checkedAt),
})

const dayOf = (ms: number): string => isoUtc(ms).slice(0, 10)
