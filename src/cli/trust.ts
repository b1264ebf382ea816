import { AnchorExists, addAnchors, presentAnchor, readAnchors, removeAnchor, TrustProblem } from '../trust/settings.ts'
import { argument, defineCommand, listing } from './command.ts'
import { ENV, oneOf, optional, repeated, shortText } from './flags.ts'
import { ACTOR, CommandError, UsageError } from './output.ts'
import { readPemFile } from './pem-file.ts'
import { withDeps, withNewDeps } from './with-deps.ts'

const LABEL_CHARS_MAX = 100
const TYPE_CHARS_MAX = 300

export const command = defineCommand(
  {
    summary: 'add, list and remove trusted issuers',
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
        },
      },
      list: {},
      remove: { argument: argument('id', 'ID', 'the id of the anchor') },
    },
    about: `The issuers whose documents count. An anchor is the issuer's root, an authority below it, or one
signer's own certificate. Test sessions trust the built-in sandbox issuer as well; live sessions
trust nobody until you add an anchor.`,
    example: 'vidimus trust add pid-issuer-ca.pem --env live --label "PID issuer" --for urn:eudi:pid:1',
  },
  {
    async add({ file, env: environment, label, for: types, mode, crl }, shell) {
      const trustedFor = onlyType(types)
      const pem = readCertificates(file)
      const adding = withNewDeps(shell, deps => addAnchors(deps, { pem, environment, label, trustedFor, mode, crl }, ACTOR))
      const rows = await adding.catch(error => {
        if (error instanceof AnchorExists) throw new CommandError(`${file}: ${error.message}; "vidimus trust remove" removes it`)
        throw error instanceof TrustProblem ? new CommandError(`${file}: ${error.message}`) : error
      })
      const lines = rows.map(
        row => `${row.label} is trusted in ${row.environment} sessions for ${row.trustedFor ?? 'every type'} (${row.id}).`,
      )
      return { json: { data: rows.map(presentAnchor) }, text: lines.join('\n') }
    },

    list: async (_, shell) =>
      listing(
        (await withDeps(shell, readAnchors)).map(presentAnchor),
        {
          ID: anchor => anchor.id,
          ENV: anchor => anchor.environment,
          LABEL: anchor => anchor.label,
          FOR: anchor => anchor.trusted_for ?? 'every type',
          MODE: anchor => (anchor.mode === 'auto' ? 'by type' : anchor.mode),
          'VALID UNTIL': anchor => anchor.not_after.slice(0, 10),
        },
        `No issuers are trusted yet, apart from the sandbox issuer in test sessions.
Next: vidimus trust add FILE.pem --env live`,
      ),

    async remove({ id }, shell) {
      if (!(await withDeps(shell, deps => removeAnchor(deps, id, ACTOR))))
        throw new CommandError(`there is no anchor ${id}; "vidimus trust list" shows all`)
      return { json: { id, removed: true }, text: `Anchor ${id} is no longer trusted.` }
    },
  },
)

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
