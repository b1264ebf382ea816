import {
  certificateRequest,
  EXPIRY_WARNING_DAYS,
  importSigningKey,
  SigningProblem,
  type SigningState,
  signingState,
} from '../signing/certificate.ts'
import { hostOf } from '../signing/keys.ts'
import { isoUtc } from '../time.ts'
import { ACTOR, actOf, CommandError, parseCall, print, required, withDeps, withNewDeps } from './output.ts'
import { readPemFile } from './trust.ts'

const HELP = `usage: vidimus signing show [--json]
       vidimus signing csr [--json]
       vidimus signing import --chain C.pem [--key K.pem] [--json]

The certificate that wallets see, and the key that signs requests. The first start makes both, under an authority of their own: wallets that
should trust it need that authority, which "signing show" prints. For a certificate from another authority, have "signing csr" signed, or bring
your own key. The chain is PEM, leaf first. A new certificate counts for new sessions at once; open ones keep theirs.

example: vidimus signing csr > request.pem && vidimus signing import --chain signed.pem`

const ACTS = { show: { flags: [] }, csr: { flags: [] }, import: { flags: ['chain', 'key'] } }

export async function runSigning(args: string[]): Promise<number> {
  const call = parseCall(args, { key: { type: 'string' }, chain: { type: 'string' } })
  const { values } = call
  if (values.help) return print(HELP)
  try {
    switch (actOf('signing', call, ACTS).act) {
      case 'show':
        return show(await withDeps(signingState), values.json)
      case 'csr':
        return await csr(values.json)
      case 'import':
        return await importKey(required(values.chain, '--chain'), values.key, values.json)
    }
  } catch (error) {
    if (error instanceof SigningProblem) throw new CommandError(error.message)
    throw error
  }
}

function show(state: SigningState, json = false): number {
  if (json) return print(JSON.stringify(wire(state)))
  const { clientId, subject, issuer, notAfter, daysLeft, chain, authority } = state
  const warning = daysLeft < EXPIRY_WARNING_DAYS ? '\n\nIt expires soon: renew it with "signing csr" and "signing import".' : ''
  const lines = [
    `Client id   ${clientId}`,
    `Subject     ${subject}`,
    `Issuer      ${issuer}`,
    `Valid until ${isoUtc(notAfter)} (${daysLeft} days)${warning}`,
    '',
    chain.trim(),
  ]
  if (authority) lines.push('', 'The authority, for wallets that should trust this service:', '', authority.trim())
  return print(lines.join('\n'))
}

async function csr(json = false): Promise<number> {
  const pem = await withDeps(deps => certificateRequest(deps, hostOf(deps.config.publicUrl)))
  return print(json ? JSON.stringify({ csr: pem }) : pem.trim())
}

async function importKey(chainFile: string, keyFile: string | undefined, json = false): Promise<number> {
  const chainPem = readPemFile(chainFile)
  const keyPem = keyFile === undefined ? undefined : readPemFile(keyFile)
  return show(await withNewDeps(deps => importSigningKey(deps, { chainPem, keyPem }, ACTOR)), json)
}

const wire = ({ clientId, subject, issuer, notAfter, daysLeft, chain, authority }: SigningState) => ({
  client_id: clientId,
  subject,
  issuer,
  not_after: isoUtc(notAfter),
  days_left: daysLeft,
  expires_soon: daysLeft < EXPIRY_WARNING_DAYS,
  chain,
  authority,
})
