import {
  type ClientWithSecret,
  changeClient,
  createClient,
  readClient,
  readClients,
  removeClient,
  rollSecret,
  SECRET_GRACE_MS,
  type SecretGrace,
} from '../oidc/clients.ts'
import { scopeOf } from '../oidc/discovery.ts'
import { readKeys, rotateKeys } from '../oidc/keys.ts'
import type { Client, ClientChanges } from '../oidc/schema.ts'
import { argument, defineCommand, listing } from './command.ts'
import { ENV, listOf, numberFrom, oneOf, optional, orNull, repeated, required, shortText, TENANT, text, toggle } from './flags.ts'
import { ACTOR, CommandError, noteAssumedAddress, UsageError } from './output.ts'
import { withDeps, withTenant } from './with-deps.ts'

const GRACES = Object.keys(SECRET_GRACE_MS) as SecretGrace[]
const ID = argument('id', 'ID', 'the client id')
const NAME = shortText('TEXT', 64)
const TEMPLATES = listOf(shortText('KEY', 64))
const ON_OFF = oneOf(['on', 'off'])

const OPTIONS = {
  auth: optional(oneOf(['client_secret', 'none']), 'none is for apps and single pages, which cannot keep a secret'),
  'id-token-alg': optional(oneOf(['RS256', 'ES256'])),
  pkce: optional(oneOf(['required', 'optional']), 'optional for programs that do not know PKCE and have a secret'),
  subject: optional(
    text('session|claim:NAME'),
    `what makes the "sub" of a person: session is another one each time (the default); claim:NAME the
     same for the same claim, such as claim:personal_administrative_number, for accounts`,
  ),
  'cross-device': optional(
    oneOf(['allowed', 'refused']),
    `refused shows no QR code: whoever passes on a code could take the log-in of somebody else; the
     default for claim:NAME`,
  ),
  'logins-per-hour': optional(numberFrom(1, 100_000)),
}

export const command = defineCommand(
  {
    summary: 'clients of the OpenID provider: programs where people log in with a wallet',
    subcommands: {
      create: {
        flags: {
          tenant: TENANT,
          env: ENV,
          name: required(NAME, 'shown to customers'),
          'redirect-uri': repeated(
            text('URL'),
            'an address that people come back to, exactly as the program sends it; may be repeated',
          ),
          template: required(TEMPLATES, 'what may be asked; the first is asked by default'),
          ...OPTIONS,
          purpose: optional(shortText('TEXT', 300)),
          'id-token-claims': toggle('puts the claims into the ID token too, for programs that look nowhere else'),
          'keep-results': toggle('keeps results as those of other sessions; otherwise they are erased after an hour'),
        },
      },
      list: { flags: { tenant: TENANT } },
      show: { argument: ID },
      set: {
        argument: ID,
        flags: {
          name: optional(NAME),
          'redirect-uri': repeated(text('URL')),
          template: optional(TEMPLATES),
          ...OPTIONS,
          purpose: optional(orNull(shortText('TEXT', 300), 'none')),
          'id-token-claims': optional(ON_OFF),
          'keep-results': optional(ON_OFF),
          confirm: optional(oneOf(['rename']), 'with another --subject, everybody who has logged in gets another "sub"'),
        },
      },
      secret: {
        argument: ID,
        flags: { 'old-expires': optional(oneOf(GRACES), 'how long the old secret keeps working (24h by default)') },
      },
      remove: { argument: ID },
      keys: {
        flags: {
          tenant: TENANT,
          env: ENV,
          rotate: toggle('takes new keys at once; the old ones stay published for a day'),
          'drop-old': toggle('with --rotate, after a leak: takes the old ones out at once'),
        },
      },
    },
    about: `A client is a program that knows OpenID Connect: a log-in there is one verification. The secret is
printed once; only its hash is kept. Issuer, client id and secret are all that most programs ask for.`,
    example: 'vidimus client set oc_test_… --redirect-uri https://shop.example/callback',
  },
  {
    async create(
      { tenant: tenantId, env: environment, name, redirectUri, template, purpose, idTokenClaims, keepResults, ...rest },
      shell,
    ) {
      if (!redirectUri) throw new UsageError('--redirect-uri is missing')
      const wanted = {
        name,
        redirect_uris: redirectUri,
        templates: template,
        ...shared(rest),
        ...(purpose !== undefined && { purpose }),
        id_token_claims: idTokenClaims,
        keep_results: keepResults,
      }
      return withTenant(shell, tenantId, async deps => {
        const created = await createClient(deps, { tenantId, environment }, wanted, ACTOR)
        noteAssumedAddress(shell, deps.config)
        return { json: created, text: describe(created) }
      })
    },

    async list({ tenant }, shell) {
      return listing(
        await withTenant(shell, tenant, deps => readClients(deps, tenant)),
        {
          ID: client => client.id,
          NAME: client => client.name,
          TEMPLATES: client => client.templates.join(','),
          'LAST LOG-IN': client => client.last_login_at ?? 'never',
          'LAST REFUSAL': client => client.last_refusal?.reason ?? '',
        },
        'This tenant has no log-in clients yet.',
      )
    },

    async show({ id }, shell) {
      const client = await withDeps(shell, deps => readClient(deps, id))
      if (!client) throw new CommandError(`there is no client ${id}; "vidimus client list --tenant ID" shows a tenant's clients`)
      return { json: client, text: describe(client) }
    },

    async set({ id, name, redirectUri, template, purpose, idTokenClaims, keepResults, confirm, ...rest }, shell) {
      const changes = {
        ...(name !== undefined && { name }),
        ...(redirectUri && { redirect_uris: redirectUri }),
        ...(template && { templates: template }),
        ...shared(rest),
        ...(purpose !== undefined && { purpose }),
        ...(idTokenClaims && { id_token_claims: idTokenClaims === 'on' }),
        ...(keepResults && { keep_results: keepResults === 'on' }),
      }
      if (Object.keys(changes).length === 0) throw new UsageError('name at least one setting to change')
      const client = await withDeps(shell, deps => changeClient(deps, id, { ...changes, ...(confirm && { confirm }) }, ACTOR))
      return { json: client, text: describe(client) }
    },

    async secret({ id, oldExpires = '24h' }, shell) {
      const rolled = await withDeps(shell, deps => rollSecret(deps, id, oldExpires, ACTOR))
      return { json: rolled, text: describe(rolled) }
    },

    async remove({ id }, shell) {
      const removed = await withDeps(shell, deps => removeClient(deps, id, ACTOR))
      return { json: removed, text: `Client ${id} is removed: nobody logs in with it any more.` }
    },

    async keys({ tenant: tenantId, env: environment, rotate, dropOld }, shell) {
      if (dropOld && !rotate) throw new UsageError('--drop-old is for --rotate')
      const issuer = { tenantId, environment }
      const keys = await withTenant(shell, tenantId, async deps => {
        if (rotate) await rotateKeys(deps, issuer, { dropOld, actor: ACTOR })
        return await readKeys(deps, issuer)
      })
      return listing(
        keys,
        { KID: key => key.kid, ALG: key => key.alg, FROM: key => key.use_from, UNTIL: key => key.use_until ?? '' },
        'There are no keys yet: the first client of an environment makes them.',
      )
    },
  },
)

type Shared = Pick<Client, 'auth' | 'pkce' | 'subject'> & {
  idTokenAlg: Client['id_token_alg']
  crossDevice: Client['cross_device']
} & {
  loginsPerHour: number
}

const shared = ({
  auth,
  idTokenAlg,
  pkce,
  subject,
  crossDevice,
  loginsPerHour,
}: { [Name in keyof Shared]: Shared[Name] | undefined }): ClientChanges => ({
  ...(auth && { auth }),
  ...(idTokenAlg && { id_token_alg: idTokenAlg }),
  ...(pkce && { pkce }),
  ...(subject !== undefined && { subject }),
  ...(crossDevice && { cross_device: crossDevice }),
  ...(loginsPerHour !== undefined && { logins_per_hour: loginsPerHour }),
})

function describe(client: ClientWithSecret): string {
  const lines = [
    ['Issuer', client.issuer],
    ['Client id', client.id],
    ...(client.client_secret ? [['Client secret', client.client_secret]] : []),
    ['Scope', `openid ${scopeOf(client.templates[0]!)}`],
    ['Redirect', client.redirect_uris.join('\n               ')],
    ['Settings', `auth ${client.auth}, ${client.id_token_alg}, PKCE ${client.pkce}, subject ${client.subject}`],
    ['', `across devices ${client.cross_device}, ${client.logins_per_hour} log-ins an hour, results ${kept(client)}`],
  ].map(([name = '', value]) => `${name.padEnd(15)}${value}`)
  const once = client.client_secret ? '\n\nThis is the only time the secret is shown.' : ''
  return lines.join('\n') + once
}

const kept = ({ keep_results }: Client): string => (keep_results ? 'kept' : 'erased after an hour')
