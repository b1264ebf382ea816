import encodeQR from 'qr'
import { ENVIRONMENTS } from '../access/scopes.ts'
import { findNameProblem } from '../base/plain-text.ts'
import { isoUtc } from '../base/time.ts'
import type { Deps } from '../deps.ts'
import { changeDevice } from '../devices/change.ts'
import { pairAgain } from '../devices/pair-again.ts'
import { pairingLink } from '../devices/pairing-code.ts'
import { presentDevice } from '../devices/present.ts'
import { type DeviceRow, readDeviceOfAnyone, readDevices } from '../devices/read.ts'
import { type Registration, registerDevice } from '../devices/register.ts'
import { revokeDevice } from '../devices/revoke.ts'
import {
  NAME_CHARS_MAX,
  PAIRING_TTL_SECONDS,
  PAIRING_TTL_SECONDS_DEFAULT,
  TEMPLATE_CHARS_MAX,
  TEMPLATES_MAX,
} from '../devices/schema.ts'
import { type Answer, argument, defineCommand, listing } from './command.ts'
import { checked, ENV, kind, listOf, numberFrom, oneOf, optional, required, shortText, TENANT } from './flags.ts'
import { ACTOR, CommandError, noteAssumedAddress, type Shell } from './output.ts'
import { withDeps, withTenant } from './with-deps.ts'

const { minimum: TTL_MIN, maximum: TTL_MAX } = PAIRING_TTL_SECONDS

const PAIRING_TTL = optional(
  numberFrom(TTL_MIN, TTL_MAX, 'SECONDS'),
  `how long the pairing code works, from ${TTL_MIN} to ${TTL_MAX} seconds (${PAIRING_TTL_SECONDS_DEFAULT} by default)`,
)

const ID = argument('id', 'ID', 'the device id')

const deviceName = checked(shortText('TEXT', NAME_CHARS_MAX), findNameProblem)

const templateKeys = checked(
  kind('KEY,…', (list, flag) => listOf(shortText('KEY', TEMPLATE_CHARS_MAX)).read(list, flag).filter(Boolean)),
  ({ length }) => (length === 0 ? 'name at least one' : length > TEMPLATES_MAX ? `more than ${TEMPLATES_MAX}` : undefined),
)

export const command = defineCommand(
  {
    summary: 'register, change, pair and revoke tills',
    subcommands: {
      register: {
        flags: {
          tenant: TENANT,
          env: ENV,
          name: required(deviceName),
          templates: required(templateKeys),
          'pairing-ttl': PAIRING_TTL,
        },
      },
      list: { flags: { tenant: TENANT, env: optional(oneOf(ENVIRONMENTS)) } },
      set: {
        argument: ID,
        flags: { name: optional(deviceName), templates: optional(templateKeys) },
      },
      pair: { argument: ID, flags: { 'pairing-ttl': PAIRING_TTL } },
      revoke: { argument: ID },
    },
    about: `A device is a till or tablet with tokens of its own: it may create verifications with these
templates only, and sees only its own. The pairing code is printed once, with a QR code that opens
the till's page. A new name or new templates count from the next request of the device on. A new
pairing code stops what the device holds, until the code is used. Revoking stops it for good.`,
    example: 'vidimus device register --tenant ten_… --env live --name "Till 1" --templates age_over_18',
  },
  {
    register: ({ tenant: tenantId, env: environment, name, templates, pairingTtl }, shell) =>
      withTenant(shell, tenantId, async deps => {
        const wanted = { name, allowed_templates: templates, pairing_ttl_seconds: pairingTtl }
        return showCode(shell, deps.config, await registerDevice(deps, { tenantId, environment }, wanted, ACTOR))
      }),

    set: ({ id, name, templates }, shell) =>
      withDevice(shell, id, async (deps, known) => {
        if (name === undefined && templates === undefined) throw new CommandError('give --name, --templates or both')
        const device = await changeDevice(deps, known, known.id, { name, allowed_templates: templates }, ACTOR)
        return {
          json: withEnvironment(device),
          text: `Device ${device.id} is called ${device.name} and may use ${device.allowedTemplates.join(', ')}.`,
        }
      }),

    pair: ({ id, pairingTtl }, shell) =>
      withDevice(shell, id, async (deps, known) =>
        showCode(shell, deps.config, await pairAgain(deps, known, known.id, { pairing_ttl_seconds: pairingTtl }, ACTOR)),
      ),

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

    revoke: ({ id }, shell) =>
      withDevice(shell, id, async (deps, known) => {
        const device = await revokeDevice(deps, known, known.id, ACTOR)
        return { json: withEnvironment(device), text: `Device ${device.id} (${device.name}) is revoked.` }
      }),
  },
)

const withDevice = (shell: Shell, id: string, act: (deps: Deps, device: DeviceRow) => Promise<Answer>): Promise<Answer> =>
  withDeps(shell, async deps => {
    const known = await readDeviceOfAnyone(deps, id)
    if (!known) throw new CommandError(`there is no device ${id}; "vidimus device list --tenant ID" shows a tenant's devices`)
    return await act(deps, known)
  })

function showCode(shell: Shell, config: Deps['config'], { device, pairingCode }: Registration): Answer {
  noteAssumedAddress(shell, config)
  const link = pairingLink(config.publicUrl, pairingCode)
  return {
    json: { device: withEnvironment(device), pairing_code: pairingCode, pairing_url: link },
    text: `${pairingCode}

${encodeQR(link, 'ascii', { ecc: 'low', border: 2 })}

Scan it with the till, or open ${link}
This is the only time the code of ${device.id} is shown. It works once, until ${isoUtc(device.pairingExpiresAt)}.`,
  }
}

const withEnvironment = (device: DeviceRow) => ({ ...presentDevice(device), environment: device.environment })
