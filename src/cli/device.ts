import encodeQR from 'qr'
import { ENVIRONMENTS } from '../access/scopes.ts'
import { findNameProblem } from '../devices/name-problem.ts'
import { pairingLink } from '../devices/pairing-code.ts'
import { presentDevice } from '../devices/present.ts'
import { type DeviceRow, readDeviceOfAnyone, readDevices } from '../devices/read.ts'
import { registerDevice } from '../devices/register.ts'
import { revokeDevice } from '../devices/revoke.ts'
import {
  NAME_CHARS_MAX,
  PAIRING_TTL_SECONDS,
  PAIRING_TTL_SECONDS_DEFAULT,
  TEMPLATE_CHARS_MAX,
  TEMPLATES_MAX,
} from '../devices/schema.ts'
import { isoUtc } from '../time.ts'
import { argument, defineCommand, listing } from './command.ts'
import { checked, ENV, kind, listOf, numberFrom, oneOf, optional, required, shortText, TENANT } from './flags.ts'
import { ACTOR, CommandError, noteAssumedAddress } from './output.ts'
import { withDeps, withTenant } from './with-deps.ts'

const { minimum: TTL_MIN, maximum: TTL_MAX } = PAIRING_TTL_SECONDS

const deviceName = checked(shortText('TEXT', NAME_CHARS_MAX), findNameProblem)

const templateKeys = checked(
  kind('KEY,…', (list, flag) => listOf(shortText('KEY', TEMPLATE_CHARS_MAX)).read(list, flag).filter(Boolean)),
  ({ length }) => (length === 0 ? 'name at least one' : length > TEMPLATES_MAX ? `more than ${TEMPLATES_MAX}` : undefined),
)

export const command = defineCommand(
  {
    summary: 'register, list and revoke tills',
    subcommands: {
      register: {
        flags: {
          tenant: TENANT,
          env: ENV,
          name: required(deviceName),
          templates: required(templateKeys),
          'pairing-ttl': optional(
            numberFrom(TTL_MIN, TTL_MAX, 'SECONDS'),
            `how long the pairing code works, from ${TTL_MIN} to ${TTL_MAX} seconds (${PAIRING_TTL_SECONDS_DEFAULT} by default)`,
          ),
        },
      },
      list: { flags: { tenant: TENANT, env: optional(oneOf(ENVIRONMENTS)) } },
      revoke: { argument: argument('id', 'ID', 'the device id') },
    },
    about: `A device is a till or tablet with tokens of its own: it may create verifications with these
templates only, and sees only its own. The pairing code is printed once, with a QR code that opens
the till's page. Revoking stops everything the device holds, at once.`,
    example: 'vidimus device register --tenant ten_… --env live --name "Till 1" --templates age_over_18',
  },
  {
    register: ({ tenant: tenantId, env: environment, name, templates, pairingTtl }, shell) =>
      withTenant(shell, tenantId, async deps => {
        const wanted = { name, allowed_templates: templates, pairing_ttl_seconds: pairingTtl }
        const { device, pairingCode } = await registerDevice(deps, { tenantId, environment }, wanted, ACTOR)
        noteAssumedAddress(shell, deps.config)
        const link = pairingLink(deps.config.publicUrl, pairingCode)
        return {
          json: { device: withEnvironment(device), pairing_code: pairingCode, pairing_url: link },
          text: `${pairingCode}

${encodeQR(link, 'ascii', { ecc: 'low', border: 2 })}

Scan it with the till, or open ${link}
This is the only time the code of ${device.id} is shown. It works once, until ${isoUtc(device.pairingExpiresAt)}.`,
        }
      }),

    async list({ tenant: tenantId, env }, shell) {
      const data = await withTenant(shell, tenantId, async deps => {
        const environments = env === undefined ? ENVIRONMENTS : [env]
        const lists = environments.map(async environment =>
          (await readDevices(deps, { tenantId, environment })).map(device => ({ ...device, environment })),
        )
        return (await Promise.all(lists)).flat().toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at))
      })
      return listing(data, {
        ID: device => device.id,
        NAME: device => device.name,
        ENV: device => device.environment,
        STATUS: device => device.status,
        'LAST SEEN': device => device.last_seen_at ?? 'never',
        TEMPLATES: device => device.allowed_templates.join(','),
      })
    },

    async revoke({ id }, shell) {
      const device = await withDeps(shell, async deps => {
        const known = await readDeviceOfAnyone(deps, id)
        if (!known) throw new CommandError(`there is no device ${id}; "vidimus device list --tenant ID" shows a tenant's devices`)
        return await revokeDevice(deps, known, known.id, ACTOR)
      })
      return { json: withEnvironment(device), text: `Device ${device.id} (${device.name}) is revoked.` }
    },
  },
)

const withEnvironment = (device: DeviceRow) => ({ ...presentDevice(device), environment: device.environment })
