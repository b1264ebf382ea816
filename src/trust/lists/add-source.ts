import { base62 } from '../../base/ids.ts'
import type { Making } from '../../ground.ts'
import type { ListKind } from '../../trust-lists/list.ts'
import type { Deps } from '../deps.ts'
import { TrustProblem } from '../settings.ts'
import { acceptList } from './accept.ts'
import { fetchFirst, placeOf, problemOf, requireLocation } from './check-list.ts'
import { PINS_MAX, pinOf } from './pins.ts'
import { type Preset, presetOf } from './presets.ts'
import type { NewSource, SourceDraft, SourceView } from './source.ts'
import { readSource } from './sources.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const EVERY_MS: Record<ListKind, number> = { vical: 6 * HOUR_MS, 'etsi-xml': 12 * HOUR_MS, lote: 12 * HOUR_MS }
/** An operator of a VICAL writes when an update is expected, not when the list is over. */
const GRACE_MS: Record<ListKind, number> = { vical: 30 * DAY_MS, 'etsi-xml': 7 * DAY_MS, lote: 7 * DAY_MS }
const EVERY_MIN_MS = HOUR_MS / 4
const EVERY_MAX_MS = 30 * DAY_MS
const GRACE_MAX_MS = 90 * DAY_MS

/** Done only when a first list was accepted. */
export async function addSource(deps: Deps, asked: NewSource, actor: string): Promise<SourceView> {
  const draft = draftOf(deps, asked)
  const name = draft.label ?? (draft.location === null ? 'the list' : placeOf(draft.location))
  if (draft.location === null && asked.bytes === undefined)
    throw new TrustProblem('a source needs an address, or a first list from a file')
  const location = draft.location === null ? null : requireLocation(draft.location)
  const { bytes, etag } = asked.bytes ? { bytes: asked.bytes, etag: null } : await fetchFirst(deps, location!, name)
  const accepted = await acceptList(deps, draft, bytes, { actor, etag })
  if (!accepted.ok) throw problemOf(name, accepted)
  return await readSource(deps, accepted.source.id)
}

function draftOf(deps: Making, asked: NewSource): SourceDraft {
  const preset = asked.preset === undefined ? undefined : requirePreset(asked)
  const kind = preset?.kind ?? asked.kind
  if (!kind) throw new TrustProblem('a source needs a preset or a kind of list')
  const pins = [...asked.signers, ...(preset?.pins ?? [])].map(signer => pinOf(kind, signer))
  if (pins.length === 0)
    throw new TrustProblem('a source needs the fingerprint or the certificate of whoever signs the list; give it as signer')
  if (pins.length > PINS_MAX) throw new TrustProblem(`a source takes at most ${PINS_MAX} signers`)
  const everyMs = asked.everyMs ?? EVERY_MS[kind]
  const graceMs = asked.graceMs ?? GRACE_MS[kind]
  if (everyMs < EVERY_MIN_MS || everyMs > EVERY_MAX_MS)
    throw new TrustProblem('a list is looked at every 15 minutes at most, and every 30 days at least')
  if (graceMs < 0 || graceMs > GRACE_MAX_MS) throw new TrustProblem('the grace is 0 to 90 days')
  const prefix = asked.types?.find(type => type.includes('*'))
  if (prefix !== undefined) throw new TrustProblem(`${prefix}: name each type whole, without *`)
  return {
    id: `src_${base62(deps.random, 16)}`,
    environment: asked.environment,
    kind,
    use: preset?.use ?? asked.use ?? 'issuers',
    label: asked.label ?? preset?.label ?? null,
    preset: asked.preset ?? null,
    location: preset?.location ?? asked.location ?? null,
    types: asked.types?.length ? [...asked.types] : null,
    serviceType: asked.serviceType ?? null,
    mode: asked.mode ?? null,
    everyMs,
    graceMs,
    listType: preset?.listType ?? null,
    pins: [...new Map(pins.map(pin => [pin.fingerprint, pin])).values()],
    createdAt: deps.now(),
  }
}

/** A preset that may be used in this environment. */
export function requirePreset({ preset: name = '', environment, isReadTerms }: NewSource): Preset {
  const preset = presetOf(name)
  if (!preset) throw new TrustProblem(`there is no preset "${name}"`)
  if (preset.environment !== environment)
    throw new TrustProblem(
      preset.environment === 'test'
        ? `${name} is a test list: its issuers prove nothing about real people`
        : `${name} is a live list: add it to live`,
    )
  if (preset.terms && !isReadTerms)
    throw new TrustProblem(`${name} has terms of use, at ${preset.terms}; read them first, then confirm that (--terms-read)`)
  return preset
}
