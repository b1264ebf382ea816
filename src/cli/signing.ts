import { certificateRequest, importSigningKey, SigningProblem, type SigningState, signingState } from '../signing/certificate.ts'
import { hostOf } from '../signing/keys.ts'
import { presentSigning } from '../signing/present.ts'
import { type Answer, defineCommand } from './command.ts'
import { optional, required, text } from './flags.ts'
import { ACTOR, CommandError } from './output.ts'
import { readPemFile } from './pem-file.ts'
import { withDeps, withNewDeps } from './with-deps.ts'

export const command = defineCommand(
  {
    summary: 'show, request and import the certificate wallets see',
    subcommands: {
      show: {},
      csr: {},
      import: {
        flags: {
          chain: required(text('C.pem'), 'the certificates, leaf first'),
          key: optional(text('K.pem'), 'your own key, for a certificate that "signing csr" did not ask for'),
        },
      },
    },
    about: `The certificate that wallets see, and the key that signs requests. The first start makes both,
under an authority of their own: wallets that should trust it need that authority, which "signing
show" prints. For a certificate from another authority, have "signing csr" signed, or bring your
own key. A new certificate counts for new sessions at once; open ones keep theirs.`,
    example: 'vidimus signing csr > request.pem && vidimus signing import --chain signed.pem',
  },
  {
    show: async (_, shell) => show(await withDeps(shell, signingState).catch(asCommandError)),

    async csr(_, shell) {
      const request = withDeps(shell, deps => certificateRequest(deps, hostOf(deps.config.publicUrl)))
      const csr = await request.catch(asCommandError)
      return { json: { csr }, text: csr.trim() }
    },

    async import({ chain, key }, shell) {
      const pems = { chainPem: readPemFile(chain), keyPem: key === undefined ? undefined : readPemFile(key) }
      return show(await withNewDeps(shell, deps => importSigningKey(deps, pems, ACTOR)).catch(asCommandError))
    },
  },
)

function asCommandError(error: unknown): never {
  throw error instanceof SigningProblem ? new CommandError(error.message) : error
}

function show(state: SigningState): Answer {
  const json = presentSigning(state)
  const { client_id, subject, issuer, not_after, days_left, expires_soon, chain, authority } = json
  const lines = [
    `Client id   ${client_id}`,
    `Subject     ${subject}`,
    `Issuer      ${issuer}`,
    `Valid until ${not_after} (${days_left} days)`,
    ...(expires_soon ? ['', 'It expires soon: renew it with "signing csr" and "signing import".'] : []),
    '',
    chain.trim(),
    ...(authority ? ['', 'The authority, for wallets that should trust this service:', '', authority.trim()] : []),
  ]
  return { json, text: lines.join('\n') }
}
