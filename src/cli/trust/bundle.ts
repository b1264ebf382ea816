import { existsSync, rmSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Random } from '../../base/ids.ts'
import { isoUtc } from '../../base/time.ts'
import { publish } from '../../db/files.ts'
import { holdPart } from '../../db/part-file.ts'
import { StartRefusal } from '../../db/refusal.ts'
import { exportBundle } from '../../trust/bundle/export.ts'
import { BUNDLE_BYTES_MAX } from '../../trust/bundle/form.ts'
import { type BundleItem, type ImportedBundle, importBundle } from '../../trust/bundle/import.ts'
import { inspectBundle } from '../../trust/bundle/inspect.ts'
import { presentImport, presentInspected } from '../../trust/bundle/present.ts'
import { presentList } from '../../trust/status/present.ts'
import { type ListOutline, type RefreshedList, readLists, refreshLists } from '../../trust/status/refresh.ts'
import { type Answer, argument, defineCommand } from '../command.ts'
import { oneOf, optional, text, toggle } from '../flags.ts'
import { ACTOR, CommandError, existsAlready, table, whyUnwritten } from '../output.ts'
import { readGivenBeginning } from '../pem-file.ts'
import { quiet } from '../quiet.ts'
import { withDeps, withNewDeps } from '../with-deps.ts'
import { asCommandError } from './problem.ts'

const REFRESH_MS = 60_000
const VENUE = { statusMaxAgeMs: 24 * 3_600_000 }

const FILE = argument('file', 'FILE', 'the file of the bundle')

export const command = defineCommand(
  {
    summary: 'bring lists and issuers to a machine without internet',
    subcommands: {
      export: {
        argument: argument('file', 'FILE', 'the file to write'),
        flags: {
          env: optional(oneOf(['test', 'live']), 'of this environment only'),
          status: toggle('fetch the lists of revoked documents first, and say how long they count'),
          force: toggle('replace a file that exists'),
        },
      },
      import: {
        argument: FILE,
        flags: {
          from: optional(
            text('FINGERPRINT'),
            `the bundle key of the installation that made it, as its export printed it: from now on
             its bundles may bring lists, issuers and blocks that are new here`,
          ),
          older: toggle('take a bundle that was made before the last one'),
        },
      },
      inspect: { argument: FILE },
    },
    about: `A bundle holds the lists of issuers as their operators signed them, your own issuers, your blocks,
and the lists of revoked documents that are kept here. "import" judges each list by the signers that are pinned on the importing machine, so the
stick needs no trust. What is new there is taken only from an installation that was accepted with
--from. Nothing is removed, no key is in it, and no list goes back to an earlier issue.

On the machine with internet:    vidimus trust bundle export trust.bundle --env live
In the venue, the first time:    vidimus trust bundle import trust.bundle --from FINGERPRINT
In the venue, from then on:      vidimus trust bundle import trust.bundle`,
    example: 'vidimus trust bundle inspect trust.bundle',
  },
  {
    async export({ file, env: environment, force, status: isFresh }, shell) {
      refuseUnfit(file, force)
      const made = await withDeps(shell, async deps => {
        const refreshed = isFresh ? await refreshLists(quiet(deps), AbortSignal.timeout(REFRESH_MS)) : []
        const bundle = await exportBundle(deps, { environment }, ACTOR)
        await writeBundle(file, bundle.bytes, { force, random: deps.random })
        return { ...bundle, refreshed, kept: isFresh ? await readLists(deps) : [] }
      }).catch(asCommandError)
      const { signer, madeAt, sources, anchors, blocks, revocation, leftOut, bytes } = made
      return {
        json: {
          ...{ file, signer, made_at: isoUtc(madeAt), bytes: bytes.length, sources, anchors, blocks, revocation },
          ...{ left_out: leftOut, ...(isFresh && { lists: statusLines(made).data }) },
        },
        text: `${file} holds ${counted(sources, 'list')}, ${counted(anchors, 'issuer')} of your own, ${counted(blocks, 'block')} and ${counted(revocation, 'list')} of revoked documents.
A machine that accepts new sources from it needs this once: --from ${signer}${isFresh ? `\n${statusLines(made).text}` : ''}`,
        ...(leftOut.length > 0 && { note: `note: no room was left in it for ${leftOut.join(', ')}` }),
      }
    },

    async import({ file, from, older }, shell) {
      const bytes = readBundle(file)
      const imported = await withNewDeps(shell, deps =>
        importBundle(quiet(deps), bytes, { ...(from !== undefined && { from }), isOlderTaken: older }, ACTOR),
      ).catch(asCommandError)
      return {
        json: presentImport(imported),
        text: describeImport(imported),
        ...noteOn(imported),
        exitCode: imported.items.some(({ outcome }) => outcome === 'refused') ? 1 : 0,
      }
    },

    async inspect({ file }) {
      const found = presentInspected(await inspectBundle(readBundle(file)).catch(asCommandError))
      return { json: found, text: describeInspected(found) }
    },
  },
)

type Fresh = { refreshed: readonly RefreshedList[]; kept: readonly ListOutline[] }

/** How long each list counts on a machine that can fetch no newer one. */
function statusLines({ refreshed, kept }: Fresh): { data: object[]; text: string } {
  const data = kept.map(list => {
    const problem = refreshed.find(({ uri, media }) => uri === list.uri && media === list.media)?.problem
    return { ...presentList(list, VENUE), ...(problem !== undefined && { problem }) }
  })
  const rows = data.map(({ uri, issued_at, ends_at, problem }) => [uri, issued_at, ends_at ?? '', problem ?? 'fetched'])
  const [first] = data.map(({ good_until }) => good_until).toSorted()
  const until = first && `Good in the venue until ${first} if its VIDIMUS_STATUS_MAX_AGE is 24h.`
  return { data, text: [table(['LIST', 'ISSUED', 'ENDS', 'NOW'], rows), until].filter(Boolean).join('\n') }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Called before anything is made: the audit chain must not name a bundle that was never written. */
function refuseUnfit(file: string, force: boolean): void {
  if (!existsSync(dirname(file))) throw new CommandError(`cannot write ${file}; give a path in a directory that exists`)
  if (existsSync(file) && (!force || !statSync(file).isFile())) throw existsAlready(file, force)
}

/** Everything in it is public. Renamed into place: a stick that is full keeps the old file. */
async function writeBundle(file: string, bytes: Uint8Array, { force, random }: { force: boolean; random: Random }) {
  let held: ReturnType<typeof holdPart> | undefined
  try {
    held = holdPart(file, random)
    await writeFile(held.part, bytes, { flag: 'wx', mode: 0o644 })
    publish(held.part, file, { mayReplace: force })
  } catch (error) {
    if (held) rmSync(held.part, { force: true })
    const why = whyUnwritten(error, file)
    if (why instanceof StartRefusal || why instanceof CommandError) throw why
    throw new CommandError(
      `cannot write ${file} (${(error as { code?: string }).code}); give a path in a directory that is yours`,
    )
  } finally {
    held?.release()
  }
}

/** One byte more than allowed is enough to refuse it. */
const readBundle = (file: string): Uint8Array => readGivenBeginning(file, 'trust bundle', BUNDLE_BYTES_MAX + 1)

const OUTCOMES: Record<BundleItem['outcome'], string> = {
  accepted: 'newer, taken',
  unchanged: 'the same as here',
  added: 'added',
  known: 'here already',
  refused: 'refused',
  not_taken: 'not taken',
}

function describeImport({ madeAt, madeBy, signer, isSigned, items }: ImportedBundle): string {
  const rows = items.map(({ what, environment, name, outcome, detail }) => [
    what === 'anchor' ? 'issuer' : what,
    environment ?? '',
    name,
    detail ? `${OUTCOMES[outcome]}: ${detail}` : OUTCOMES[outcome],
  ])
  const maker = isSigned ? `Made by ${madeBy} (${signer}) at ${madeAt}.` : 'The signature of the bundle does not hold.'
  return items.length === 0 ? `${maker}\nThe bundle is empty.` : `${maker}\n${table(['WHAT', 'ENV', 'NAME', 'OUTCOME'], rows)}`
}

function noteOn({ isSigned, isAccepted, signer, items }: ImportedBundle): Pick<Answer, 'note'> {
  if (!isSigned) return { note: 'note: nothing new was taken: the bundle was changed after it was made; export it again' }
  const isLeft = !isAccepted && items.some(({ outcome }) => outcome === 'not_taken')
  return isLeft ? { note: `note: if ${signer} is what the export printed, take what is new with --from ${signer}` } : {}
}

function describeInspected(found: ReturnType<typeof presentInspected>): string {
  const lists = found.sources.map(source => [
    'list',
    source.environment,
    source.label,
    'problem' in source
      ? String(source.problem)
      : `number ${source.sequence ?? '-'}, issued ${source.issued_at}, next ${source.next_update ?? '-'}, signed by ${source.signer}`,
  ])
  const anchors = found.anchors.map(({ environment, label, trusted_for }) => [
    'issuer',
    environment,
    label,
    trusted_for ?? 'every type',
  ])
  const blocks = found.blocks.map(({ environment, fingerprint, reason }) => ['block', environment, fingerprint, reason])
  const status = found.revocation.map(({ uri, media, fetched_at }) => ['status', '', uri, `${media}, fetched ${fetched_at}`])
  const signature = found.signature_valid ? `made by ${found.made_by} (${found.signer})` : 'its signature does NOT hold'
  return `${signature}, at ${found.made_at}\n${table(['WHAT', 'ENV', 'NAME', 'ABOUT'], [...lists, ...anchors, ...blocks, ...status])}`
}
