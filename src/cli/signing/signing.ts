import { parseUtcInstant } from '../../base/time.ts'
import type { Deps } from '../../deps.ts'
import { type KeyOwner, type SigningState, signingState } from '../../signing/certificate.ts'
import { importSigningKey } from '../../signing/import.ts'
import { importReader } from '../../signing/import-reader.ts'
import { hostOf } from '../../signing/keys.ts'
import { presentSigning } from '../../signing/present.ts'
import { SigningProblem } from '../../signing/problem.ts'
import { presentReader, type ReaderCertificate, readReaders, removeReader } from '../../signing/readers.ts'
import { cancelScheduled, removeSigningKeys } from '../../signing/remove.ts'
import { certificateRequest, requestNewKey } from '../../signing/request.ts'
import { readAccessAuthorities } from '../../trust/lists/sources.ts'
import { findings } from '../../web/shared/findings/en.ts'
import { say } from '../../web/shared/findings/say.ts'
import { type Answer, defineCommand } from '../command.ts'
import { kind, optional, required, text, toggle } from '../flags.ts'
import { ACTOR, CommandError, UsageError } from '../output.ts'
import { readPemFile } from '../pem-file.ts'
import { requireTenant, withDeps, withNewDeps } from '../with-deps.ts'

const TENANT_OF_ITS_OWN = optional(text('ID'), "for the tenant's own certificate, which its sessions use")

const instant = kind('TIME', (given, flag) => {
  const at = parseUtcInstant(/^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00:00Z` : given)
  if (at === undefined) throw new UsageError(`${flag}: write it like 2026-12-01 or 2026-12-01T08:00:00Z`)
  return at
})

export const command = defineCommand(
  {
    summary: 'show, request and import the certificate wallets see',
    subcommands: {
      show: { flags: { tenant: TENANT_OF_ITS_OWN } },
      csr: {
        flags: {
          'new-key': toggle('make a new key for it; the current one signs until its certificate is imported'),
          subject: optional(
            text('DN'),
            'the name in the request, such as "CN=Corner Shop, O=Corner Shop GmbH, C=DE"; authorities replace it',
          ),
          tenant: TENANT_OF_ITS_OWN,
        },
      },
      import: {
        flags: {
          chain: required(text('C.pem'), 'the certificates, leaf first'),
          key: optional(text('K.pem'), 'your own key, for a certificate that "signing csr" did not ask for'),
          from: optional(instant, 'new sessions use it from then on; by default at once, or as soon as it is valid'),
          reader: toggle('a reader certificate, which signs requests by ISO/IEC 18013-7 Annex C and nothing else'),
          tenant: TENANT_OF_ITS_OWN,
        },
      },
      cancel: { flags: { tenant: TENANT_OF_ITS_OWN } },
      remove: {
        flags: {
          tenant: optional(text('ID'), 'the tenant, whose new sessions use the certificates of the installation'),
          fingerprint: optional(text('FINGERPRINT'), 'one reader certificate only'),
        },
      },
    },
    about: `The certificate that wallets see, and the key that signs requests. The first start makes both,
under an authority of their own: wallets that should trust it need that authority, which "signing
show" prints. For a certificate from another authority, have "signing csr" signed, or bring your
own key; "import" finds the key of a request by itself. New sessions use a new certificate from
its start on; open ones keep theirs. With --tenant, a shop has a certificate of its own, so that
wallets show the shop; "remove" takes it away. "cancel" takes back a certificate that starts later.
With --reader, "import" takes a reader certificate, such as wallets of iPhones ask for; several
issuers may each have one.`,
    example: 'vidimus signing csr --new-key > request.pem && vidimus signing import --chain signed.pem',
  },
  {
    async show({ tenant }, shell) {
      return await withDeps(shell, async deps => {
        await requireOwner(deps, tenant)
        return await show(deps, await signingState(deps, tenant ?? null))
      }).catch(asCommandError)
    },

    async csr({ newKey, subject, tenant }, shell) {
      const making = withDeps(shell, async deps => {
        await requireOwner(deps, tenant)
        const request = { owner: tenant ?? null, host: hostOf(deps.config.publicUrl), subject }
        return newKey ? await requestNewKey(deps, request, ACTOR) : await certificateRequest(deps, request)
      })
      const csr = await making.catch(asCommandError)
      return { json: { csr }, text: csr.trim() }
    },

    async import({ chain, key, from, reader, tenant }, shell) {
      if (reader && from !== undefined)
        throw new UsageError('a reader certificate counts as soon as it is valid; leave --from out')
      const pems = { chainPem: readPemFile(chain), keyPem: key === undefined ? undefined : readPemFile(key) }
      const importing = withNewDeps(shell, async deps => {
        await requireOwner(deps, tenant)
        if (reader) return asReader(await importReader(deps, { ...pems, owner: tenant ?? null }, ACTOR))
        const authorities = await readAccessAuthorities(deps)
        const wanted = { ...pems, from, owner: tenant ?? null, authorities }
        const { state, notes } = await importSigningKey(deps, wanted, ACTOR)
        const shown = await show(deps, state)
        const sentences = notes.map(note => say(findings, note).detail)
        return { ...shown, json: { ...shown.json, notes: sentences }, note: sentences.join('\n') }
      })
      return await importing.catch(asCommandError)
    },

    async cancel({ tenant }, shell) {
      return await withDeps(shell, async deps => {
        await requireOwner(deps, tenant)
        return await show(deps, await cancelScheduled(deps, tenant ?? null, ACTOR))
      }).catch(asCommandError)
    },

    async remove({ tenant, fingerprint }, shell) {
      if (tenant === undefined && fingerprint === undefined)
        throw new UsageError('name a tenant or a reader certificate; the installation always has a certificate')
      const owner = tenant ?? null
      return await withDeps(shell, async deps => {
        await requireOwner(deps, owner)
        if (fingerprint !== undefined) await removeReader(deps, { owner, fingerprint: fingerprint.toLowerCase() }, ACTOR)
        else await removeSigningKeys(deps, tenant!, ACTOR)
        return await show(deps, await signingState(deps, owner))
      }).catch(asCommandError)
    },
  },
)

async function requireOwner(deps: Deps, owner: KeyOwner | undefined): Promise<void> {
  if (owner) await requireTenant(deps, owner)
}

function asCommandError(error: unknown): never {
  throw error instanceof SigningProblem ? new CommandError(error.message) : error
}

function asReader(imported: ReaderCertificate): Answer {
  const json = presentReader(imported)
  return { json, text: describeOne(json) }
}

const describeOne = ({ fingerprint, subject, not_after }: ReturnType<typeof presentReader>): string =>
  `Reader      ${subject}, until ${not_after}\n            ${fingerprint}`

async function show(deps: Deps, state: SigningState): Promise<Answer> {
  const readers = (await readReaders(deps)).filter(({ owner }) => owner === state.owner).map(presentReader)
  const json = { ...presentSigning(state, deps.now()), readers }
  const { client_id, subject, issuer, not_after, days_left, expires_soon, chain, authority, next, pending_since } = json
  const lines = [
    ...(state.isOwn ? [] : ['The tenant has no certificate of its own yet; its sessions use that of the installation.', '']),
    `Client id   ${client_id}`,
    `Subject     ${subject}`,
    `Issuer      ${issuer}`,
    `Valid until ${not_after} (${days_left} days)`,
    ...(next
      ? ['', `From ${next.starts_at} new sessions use ${next.client_id}`, `(${next.subject}, until ${next.not_after}).`]
      : []),
    ...(expires_soon ? ['', 'It expires soon: renew it with "signing csr" and "signing import".'] : []),
    ...(pending_since ? ['', `A key of ${pending_since} waits for its certificate.`] : []),
    ...(readers.length > 0 ? ['', ...readers.map(describeOne)] : []),
    '',
    chain.trim(),
    ...(authority ? ['', 'The authority, for wallets that should trust this service:', '', authority.trim()] : []),
  ]
  return { json, text: lines.join('\n') }
}
