import { countAccountClients } from '../../oidc/clients.ts'
import { block, readBlocks, unblock } from '../../trust/blocks.ts'
import { readSources } from '../../trust/lists/sources.ts'
import { presentBlock } from '../../trust/present.ts'
import {
  ANCHOR_USES,
  AnchorExists,
  type AnchorRow,
  addAnchors,
  presentAnchor,
  readAnchors,
  removeAnchor,
  TrustProblem,
} from '../../trust/settings.ts'
import { type Answer, argument, defineCommand, listing } from '../command.ts'
import { ENV, oneOf, optional, repeated, required, shortText, text, toggle } from '../flags.ts'
import { ACTOR, CommandError, UsageError } from '../output.ts'
import { readPemFile } from '../pem-file.ts'
import { withDeps, withNewDeps } from '../with-deps.ts'
import { asCommandError } from './problem.ts'

const LABEL_CHARS_MAX = 100
const TYPE_CHARS_MAX = 300
const REASON_CHARS_MAX = 200

export const command = defineCommand(
  {
    summary: 'add, list, remove and block trusted issuers',
    subcommands: {
      add: {
        argument: argument('file', 'FILE.pem', 'the file'),
        flags: {
          env: ENV,
          label: optional(shortText('TEXT', LABEL_CHARS_MAX)),
          // Repeated only to be refused: otherwise the parser would silently keep the last.
          for: repeated(
            shortText('VCT-OR-DOCTYPE', TYPE_CHARS_MAX),
            'trust it for this type of document only; call it once for each type',
          ),
          mode: optional(
            oneOf(['iso', 'pkix']),
            `iso asks the chain for the profile of ISO/IEC 18013-5, pkix for a sound chain; by
             default the type of the document decides: iso for driving licences and photo IDs, pkix
             for everything else`,
          ),
          crl: optional(
            oneOf(['off', 'warn', 'require']),
            `when a revocation list that the issuer's certificates name cannot be read: require
             refuses the document (the default in mode iso), warn adds a warning (the default in
             mode pkix); off reads none`,
          ),
          use: optional(
            oneOf(ANCHOR_USES),
            `status: for status lists only, of every issuer; documents: for documents, but not for their
             status lists; both: for documents and the status lists of these (the default)`,
          ),
          continues: optional(
            text('ID'),
            `the anchor of the same authority that this one follows, such as its last certificate: people keep
             their accounts with OpenID clients`,
          ),
        },
      },
      list: { flags: { types: toggle('for each type of document, who may issue it') } },
      remove: { argument: argument('id', 'ID', 'the id of the anchor') },
      block: {
        argument: argument('fingerprint', 'FINGERPRINT', 'the fingerprint of the certificate'),
        flags: { env: ENV, reason: required(shortText('TEXT', REASON_CHARS_MAX)) },
      },
      unblock: {
        argument: argument('fingerprint', 'FINGERPRINT', 'the fingerprint of the certificate'),
        flags: { env: ENV },
      },
    },
    about: `The issuers whose documents count. An anchor is the issuer's root, an authority below it, or one
signer's own certificate. Test sessions trust the built-in sandbox issuer as well; live sessions
trust nobody until you add an anchor. "trust source" adds signed lists of issuers. "trust block"
refuses a certificate, and all that it vouches for, whatever a list says.`,
    example: 'vidimus trust add pid-issuer-ca.pem --env live --label "PID issuer" --for urn:eudi:pid:1',
  },
  {
    async add({ file, env: environment, label, for: types, mode, crl, use, continues }, shell) {
      const trustedFor = onlyType(types)
      const pem = readCertificates(file)
      const adding = withNewDeps(shell, deps =>
        addAnchors(deps, { pem, environment, label, trustedFor, mode, crl, use, ...(continues && { continues }) }, ACTOR),
      )
      const rows = await adding.catch(error => {
        if (error instanceof AnchorExists) throw new CommandError(`${file}: ${error.message}; "vidimus trust remove" removes it`)
        throw error instanceof TrustProblem ? new CommandError(`${file}: ${error.message}`) : error
      })
      const lines = rows.map(
        row => `${row.label} is trusted in ${row.environment} sessions for ${usedFor(presentAnchor(row))} (${row.id}).`,
      )
      const twin = continues === undefined && (await withDeps(shell, readAnchors)).find(each => isTwin(each, rows))
      const note = twin
        ? `note: ${twin.label} (${twin.id}) has the same name. If it is the same authority, remove the new one and add it with --continues ${twin.id}: otherwise people get new accounts with OpenID clients.`
        : undefined
      return { json: { data: rows.map(presentAnchor) }, text: lines.join('\n'), ...(note && { note }) }
    },

    async list({ types }, shell) {
      const { anchors, sources, blocks } = await withDeps(shell, async deps => ({
        anchors: (await readAnchors(deps)).map(presentAnchor),
        sources: await readSources(deps),
        blocks: (await readBlocks(deps)).map(presentBlock),
      }))
      const labels = new Map(sources.map(({ id, label }) => [id, label]))
      const named = anchors.map(anchor => ({ ...anchor, from: anchor.source ? (labels.get(anchor.source) ?? '') : '' }))
      return types ? listByType(named) : listAnchors(named, blocks)
    },

    async remove({ id }, shell) {
      const removing = withDeps(shell, async deps => ({
        isRemoved: await removeAnchor(deps, id, ACTOR),
        clients: await countAccountClients(deps),
      }))
      const { isRemoved, clients } = await removing.catch(asCommandError)
      if (!isRemoved) throw new CommandError(`there is no anchor ${id}; "vidimus trust list" shows all`)
      const note = `note: ${clients} OpenID clients know people by a claim; with documents of this authority they log in no more.`
      return { json: { id, removed: true }, text: `Anchor ${id} is no longer trusted.`, ...(clients > 0 && { note }) }
    },

    async block({ fingerprint, env: environment, reason }, shell) {
      const adding = withDeps(shell, deps => block(deps, { environment, fingerprint, reason }, ACTOR))
      const blocked = presentBlock(await adding.catch(asCommandError))
      return { json: blocked, text: `${blocked.fingerprint} and all that it vouches for are refused in ${environment} sessions.` }
    },

    async unblock({ fingerprint, env: environment }, shell) {
      const removing = withDeps(shell, deps => unblock(deps, { environment, fingerprint }, ACTOR))
      const { fingerprint: removed } = await removing.catch(asCommandError)
      return {
        json: { environment, fingerprint: removed, unblocked: true },
        text: `${removed} is no longer blocked in ${environment} sessions.`,
      }
    },
  },
)

/** Another certificate of the same subject. */
const isTwin = (anchor: AnchorRow, rows: readonly AnchorRow[]): boolean =>
  rows.some(row => {
    const [own, other] = [presentAnchor(row), presentAnchor(anchor)]
    return own.id !== other.id && own.environment === other.environment && own.subject === other.subject
  })

type Named = ReturnType<typeof presentAnchor> & { from: string }

/** Single issuers first, then each list's under it. */
function listAnchors(anchors: Named[], blocks: ReturnType<typeof presentBlock>[]): Answer {
  const ordered = anchors.toSorted((a, b) => (a.source ?? '').localeCompare(b.source ?? ''))
  const { text } = listing(
    ordered,
    {
      ID: anchor => anchor.id,
      ENV: anchor => anchor.environment,
      LABEL: anchor => anchor.label,
      FOR: usedFor,
      MODE: anchor => (anchor.mode === 'auto' ? 'by type' : anchor.mode),
      'VALID UNTIL': anchor => anchor.not_after.slice(0, 10),
      SOURCE: anchor => anchor.from,
    },
    `No issuers are trusted yet, apart from the sandbox issuer in test sessions.
Next: vidimus trust add FILE.pem --env live`,
  )
  const blocked = blocks.map(({ environment, fingerprint, reason }) => `Blocked in ${environment}: ${fingerprint} (${reason})`)
  const data = ordered.map(({ from: _, ...anchor }) => anchor)
  return { json: { data, blocks }, text: [text, ...blocked].join('\n') }
}

function usedFor({ trusted_for, use }: ReturnType<typeof presentAnchor>): string {
  const types = trusted_for ?? 'every type'
  const words = {
    both: types,
    documents: `${types} (documents)`,
    status: `${types} (status lists)`,
    none: `nothing (${types})`,
    relying_party: 'your own papers',
  }
  return words[use]
}

function listByType(anchors: Named[]): Answer {
  const byType = Map.groupBy(
    anchors.filter(({ use }) => use === 'both' || use === 'documents'),
    ({ environment, trusted_for }) => JSON.stringify([environment, trusted_for]),
  )
  const data = [...byType.values()]
    .map(([first, ...others]) => ({
      environment: first!.environment,
      type: first!.trusted_for,
      issuers: [first!, ...others].map(({ id, label, source, from }) => ({ id, label, source, from })),
    }))
    .toSorted((a, b) => `${a.environment} ${a.type ?? ''}`.localeCompare(`${b.environment} ${b.type ?? ''}`))
  const rows = data.flatMap(({ environment, type, issuers }) => issuers.map(issuer => ({ environment, type, ...issuer })))
  const { text } = listing(
    rows,
    {
      TYPE: row => row.type ?? 'every type',
      ENV: row => row.environment,
      ISSUER: row => row.label,
      SOURCE: row => row.from,
    },
    'No issuers are trusted yet, apart from the sandbox issuer in test sessions.',
  )
  return {
    json: { data: data.map(each => ({ ...each, issuers: each.issuers.map(({ from: _, ...issuer }) => issuer) })) },
    text,
  }
}

function onlyType(types: string[] = []): string | undefined {
  const [type, ...others] = types
  if (others.length > 0 || type?.includes(',')) throw new UsageError('--for takes one type; call it once for each type')
  return type
}

function readCertificates(file: string): string {
  const pem = readPemFile(file)
  if (/-----BEGIN (\w+ )*PRIVATE KEY-----/.test(pem) && !pem.includes('-----BEGIN CERTIFICATE-----'))
    throw new CommandError(`${file}: this is a private key, not a certificate; give the certificate of the issuer`)
  return pem
}
