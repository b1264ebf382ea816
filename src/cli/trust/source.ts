import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isoUtc } from '../../base/time.ts'
import { loadConfig } from '../../config.ts'
import type { Deps } from '../../deps.ts'
import { addSource, requirePreset } from '../../trust/lists/add-source.ts'
import { checkList } from '../../trust/lists/check-list.ts'
import { readLocal } from '../../trust/lists/fetch-source.ts'
import { findStake, pinSigner, type Stake, unpinSigner } from '../../trust/lists/pins.ts'
import { PRESET_NAMES, presetOf } from '../../trust/lists/presets.ts'
import { refreshSource } from '../../trust/lists/refresh.ts'
import type { CheckedList, NewSource } from '../../trust/lists/source.ts'
import { readSource, readSources, removeSource } from '../../trust/lists/sources.ts'
import { compareAt, presentList, presentSource } from '../../trust/present.ts'
import { presentAnchor, readAnchors, TrustProblem } from '../../trust/settings.ts'
import { LIST_KINDS } from '../../trust-lists/list.ts'
import { type Answer, argument, defineCommand, listing, optionalArgument } from '../command.ts'
import { checked, ENV, kind, oneOf, optional, repeated, shortText, text, toggle } from '../flags.ts'
import { ACTOR, CommandError, type Shell, UsageError } from '../output.ts'
import { readPemFile } from '../pem-file.ts'
import { quiet } from '../quiet.ts'
import { withDeps, withNewDeps } from '../with-deps.ts'
import { asCommandError } from './problem.ts'
import { describeList, describeSource, issuersOf, noteOn, refreshedText, unpinnedText } from './source-text.ts'

const LABEL_CHARS_MAX = 100
const TYPE_CHARS_MAX = 300
const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const duration = (placeholder: string) =>
  kind(placeholder, (value, flag) => {
    if (value === '0') return 0
    const [, amount, unit] = /^(\d{1,4})([mhd])$/.exec(value) ?? []
    if (amount === undefined) throw new UsageError(`${flag}: "${value}" is not a time like 30m, 12h or 7d`)
    return Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS]
  })

const ID = argument('id', 'ID', 'the id of the source')
const SIGNER = argument('signer', 'FINGERPRINT', 'the fingerprint of the signer')

export const command = defineCommand(
  {
    summary: 'signed lists of issuers: check, add, show, refresh, pin, remove',
    subcommands: {
      check: { argument: argument('place', 'URL-OR-FILE', 'the address or file of the list') },
      add: {
        argument: optionalArgument('place', 'URL-OR-FILE', 'the address or file of the list'),
        flags: {
          preset: optional(oneOf(PRESET_NAMES, 'NAME'), `a known list: ${PRESET_NAMES.join(', ')}`),
          kind: optional(oneOf(LIST_KINDS), 'of a list without a preset'),
          env: ENV,
          signer: repeated(text('FINGERPRINT-OR-PEM'), 'who may sign it: a SHA-256 fingerprint, or a file with the certificate'),
          for: repeated(
            shortText('VCT-OR-DOCTYPE', TYPE_CHARS_MAX),
            'take issuers for this type of document only; may be repeated',
          ),
          'service-type': optional(shortText('URI', TYPE_CHARS_MAX), 'the services that count in a list of an unknown type'),
          label: optional(shortText('TEXT', LABEL_CHARS_MAX)),
          mode: optional(oneOf(['iso', 'pkix']), 'how chains are judged; by default by the list'),
          every: optional(duration('12h'), 'how often the service looks at it; 6h for a VICAL, 12h for others'),
          grace: optional(
            checked(duration('7d'), ms => (ms > 90 * UNITS_MS.d ? 'longer than 90d' : undefined)),
            'how long it counts after its next update is overdue; 30d for a VICAL, 7d for others',
          ),
          use: optional(oneOf(['issuers', 'relying-party']), 'relying-party: for the checks of your own certificate only'),
          'terms-read': toggle('you have read the terms that the preset names'),
        },
      },
      list: {},
      show: { argument: ID },
      refresh: {
        argument: optionalArgument('id', 'ID', 'the id of the source'),
        flags: { file: optional(text('LIST'), 'the list itself, for a machine without a way out') },
      },
      pin: { argument: ID, second: SIGNER },
      unpin: {
        argument: ID,
        second: SIGNER,
        flags: {
          withdraw: toggle('what that signer signed counts no more, at once'),
          yes: toggle('do not ask: what that signer signed counts until its end'),
        },
      },
      remove: { argument: ID },
    },
    about: `A source is a signed list of issuers that keeps itself current. Its signer is pinned: compare the
fingerprint with the operator's own publication first. "check" shows it and stores nothing.`,
    example: 'vidimus trust source add --preset eu-av-acceptance --env test',
  },
  {
    async check({ place }, shell) {
      const list = await look(shell, locationOf(place))
      return { json: presentList(list), text: describeList(list).join('\n') }
    },

    async add(given, shell) {
      const asked = newSourceFrom(given)
      if (asked.signers.length === 0 && !presetOf(asked.preset ?? '')?.pins.length) return await stopAtSigner(asked, shell)
      const { source, now } = await withNewDeps(shell, async deps => ({
        source: await addSource(quiet(deps), asked, ACTOR),
        now: deps.now(),
      })).catch(asCommandError)
      const types = source.types?.join(', ') ?? 'the documents it is for'
      return {
        json: presentSource(source, now),
        text: `${source.label} is added to ${source.environment} (${source.id}): ${issuersOf(source)} for ${types}.
It counts until ${presentSource(source, now).ends_at} without an update.`,
      }
    },

    async list(_, shell) {
      const { sources, now } = await withDeps(shell, async deps => ({ sources: await readSources(deps), now: deps.now() }))
      return listing(
        sources.map(source => presentSource(source, now)),
        {
          ID: source => source.id,
          ENV: source => source.environment,
          LABEL: source => source.label,
          STATE: source => (source.failure ? `${source.state}, ${source.failure.code}` : source.state),
          NUMBER: source => String(source.sequence ?? ''),
          ISSUED: source => source.issued_at.slice(0, 10),
          'NEXT UPDATE': source => source.next_update.slice(0, 10),
          ISSUERS: source => String(source.entries),
          'LAST LOOK': source => source.checked_at.slice(0, 16),
        },
        `There are no lists yet.
Next: vidimus trust source add --preset eu-av-acceptance --env test`,
      )
    },

    async show({ id }, shell) {
      const shown = await withDeps(shell, async deps => {
        const source = presentSource(await readSource(deps, id), deps.now())
        const issuers = (await readAnchors(deps)).filter(({ sourceId }) => sourceId === id).map(presentAnchor)
        return { ...source, issuers }
      }).catch(asCommandError)
      return { json: shown, text: describeSource(shown).join('\n') }
    },

    async refresh({ id, file }, shell) {
      if (file !== undefined && id === undefined) throw new UsageError('--file needs the id of its source')
      const bytes = file === undefined ? undefined : await readList(file)
      if (id === undefined) return await refreshAll(shell)
      const { outcome, source, now } = await withDeps(shell, async deps => ({
        ...(await refreshSource(quiet(deps), id, { bytes, actor: ACTOR })),
        now: deps.now(),
      })).catch(asCommandError)
      return {
        json: { outcome, ...presentSource(source, now) },
        text: refreshedText(outcome, source),
        note: noteOn(outcome, source),
      }
    },

    async pin({ id, signer }, shell) {
      const source = await withDeps(shell, async deps =>
        presentSource(await pinSigner(deps, id, signerFrom(signer), ACTOR), deps.now()),
      ).catch(asCommandError)
      return {
        json: source,
        text: `This signer may sign ${source.label} from now on; "vidimus trust source refresh ${id}" looks at the list again.`,
      }
    },

    async unpin({ id, signer, withdraw, yes }, shell) {
      if (withdraw && yes) throw new UsageError('--withdraw ends what the signer signed, and --yes keeps it; give one of them')
      const stake = await withDeps(shell, deps => findStake(deps, id, signer)).catch(asCommandError)
      if (stake && !withdraw && !yes) requireConsent(shell, stake)
      const source = await withDeps(shell, async deps =>
        presentSource(await unpinSigner(deps, id, signer, ACTOR, { withdraw }), deps.now()),
      ).catch(asCommandError)
      return {
        json: { ...source, list_withdrawn: withdraw && stake !== undefined },
        text: `This signer may sign no more lists of ${source.label}. ${unpinnedText(stake, withdraw)}`,
      }
    },

    async remove({ id }, shell) {
      await withDeps(shell, deps => removeSource(deps, id, ACTOR)).catch(asCommandError)
      return { json: { id, removed: true }, text: `The list ${id} and its issuers are no longer trusted.` }
    },
  },
)

/** A signer that is not trusted any more should not decide in silence who is. */
function requireConsent({ confirm }: Shell, stake: Stake): void {
  const stays = `${stake.label}: this signer signed the list in force, which names ${issuersOf(stake)} and counts until ${isoUtc(stake.endsAt)} unless a pinned signer signs a newer one`
  if (confirm === undefined)
    throw new CommandError(
      `${stays}; nothing was changed: call this again with --withdraw to end it now, or with --yes to keep it`,
    )
  if (!confirm(`${stays}.\nRemove the signer, and keep that list? (--withdraw ends it now)`))
    throw new CommandError('nothing was changed; --withdraw removes the signer with all that it signed')
}

type AddFlags = {
  place: string | undefined
  preset: string | undefined
  kind: NewSource['kind']
  env: NewSource['environment']
  signer: string[] | undefined
  for: string[] | undefined
  serviceType: string | undefined
  label: string | undefined
  mode: NewSource['mode']
  every: number | undefined
  grace: number | undefined
  use: 'issuers' | 'relying-party' | undefined
  termsRead: boolean
}

function newSourceFrom(given: AddFlags): NewSource {
  const { place, preset, env: environment, label, serviceType, mode } = given
  if (preset === undefined && place === undefined) throw new UsageError('give --preset NAME, or the address or file of a list')
  if (preset !== undefined && place !== undefined)
    throw new UsageError('--preset has an address of its own; leave out one of them')
  if (preset !== undefined && (given.kind || given.use))
    throw new UsageError('--preset has a kind and a use of its own; leave them out')
  if (preset === undefined && given.kind === undefined) throw new UsageError('--kind is missing')
  return {
    environment,
    preset,
    kind: given.kind,
    location: place === undefined ? undefined : locationOf(place),
    use: given.use === 'relying-party' ? 'relying_party' : given.use,
    signers: (given.signer ?? []).map(signerFrom),
    types: given.for,
    serviceType,
    label,
    mode,
    everyMs: given.every,
    graceMs: given.grace,
    isReadTerms: given.termsRead,
  }
}

const locationOf = (place: string): string => (/^[a-z]{2,}:/i.test(place) ? place : pathToFileURL(resolve(place)).href)

/** A fingerprint stays as it is; anything else is a file. */
const signerFrom = (given: string): string =>
  /^[0-9a-f:\s]{64,}$/i.test(given) || !existsSync(given) ? given : readPemFile(given)

async function readList(file: string): Promise<Uint8Array> {
  const read = await readLocal(resolve(file))
  if (!read.ok) throw new CommandError(`${file}: ${read.detail}`)
  return read.bytes
}

/** Needs no database. */
async function look(shell: Shell, location: string, of?: NewSource['kind']): Promise<CheckedList> {
  const config = loadConfig(shell.env)
  const { egressOf, realWorld } = await import('../../ground.ts')
  const { now, resolve } = realWorld()
  return await checkList({ now, resolve, egress: egressOf(config) }, { location }, of).catch(asCommandError)
}

/** Nobody is believed because of the file itself: the signer is shown, and nothing is added. */
async function stopAtSigner(asked: NewSource, shell: Shell): Promise<Answer> {
  const preset = asked.preset === undefined ? undefined : presetFrom(asked)
  const list = await look(shell, preset?.location ?? asked.location ?? '', preset?.kind ?? asked.kind)
  const { fingerprint } = list.signer
  return {
    json: { added: false, compare_at: compareAt(asked.preset ?? null), ...presentList(list) },
    text: [
      ...describeList(list),
      '',
      `Nothing was added yet. Compare the fingerprint with ${compareAt(asked.preset ?? null)},`,
      `then call this again with --signer ${fingerprint}`,
    ].join('\n'),
    exitCode: 1,
  }
}

function presetFrom(asked: NewSource) {
  try {
    return requirePreset(asked)
  } catch (error) {
    return asCommandError(error)
  }
}

/** Each by itself: one that fails does not stop the others. */
async function refreshAll(shell: Shell): Promise<Answer> {
  const results = await withDeps(shell, async deps => {
    const sources = (await readSources(deps)).filter(({ location }) => location !== null)
    return await Array.fromAsync(sources, ({ id }) => refreshOne(quiet(deps), id))
  })
  return {
    json: { data: results.map(({ text: _, ...rest }) => rest) },
    text: results.length > 0 ? results.map(each => each.text).join('\n') : 'There are no lists with an address.',
    exitCode: results.some(({ outcome }) => outcome === 'failed') ? 1 : 0,
  }
}

async function refreshOne(deps: Deps, id: string) {
  try {
    const { outcome, source } = await refreshSource(deps, id, { actor: ACTOR })
    return { id, outcome, text: refreshedText(outcome, source) }
  } catch (error) {
    if (!(error instanceof TrustProblem)) throw error
    return { id, outcome: 'failed' as const, message: error.message, text: error.message }
  }
}
