import encodeQR from 'qr'
import { ENVIRONMENTS, type Environment } from '../access/scopes.ts'
import { findNameProblem } from '../devices/name-problem.ts'
import { pairingLink } from '../devices/pairing-code.ts'
import { presentDevice } from '../devices/present.ts'
import { type Registration, registerDevice } from '../devices/register.ts'
import { revokeDevice } from '../devices/revoke.ts'
import {
  NAME_CHARS_MAX,
  PAIRING_TTL_SECONDS,
  PAIRING_TTL_SECONDS_DEFAULT,
  TEMPLATE_CHARS_MAX,
  TEMPLATES_MAX,
} from '../devices/schema.ts'
import { type DeviceRow, findDeviceOfAnyone, listDevices } from '../devices/store.ts'
import { ApiError } from '../http/errors.ts'
import { isoUtc } from '../time.ts'
import { requireTenant } from './key.ts'
import {
  ACTOR,
  actOf,
  CommandError,
  choice,
  noteAssumedAddress,
  parseCall,
  print,
  printable,
  required,
  shortText,
  table,
  UsageError,
  wholeNumber,
  withDeps,
} from './output.ts'

const { minimum: TTL_MIN, maximum: TTL_MAX } = PAIRING_TTL_SECONDS

const HELP = `usage: vidimus device register --tenant ID --env test|live --name TEXT --templates A,B [--pairing-ttl SECONDS] [--json]
       vidimus device list --tenant ID [--env test|live] [--json]
       vidimus device revoke ID [--json]

A device is a till or tablet with tokens of its own: it may create verifications with these templates only, and sees only its own. The
pairing code is printed once, with a QR code that opens the till's page; it works for ${TTL_MIN} to ${TTL_MAX} seconds (${PAIRING_TTL_SECONDS_DEFAULT}, unless you say
otherwise). Revoking stops everything the device holds, at once.

example: vidimus device register --tenant ten_… --env live --name "Till 1" --templates age_over_18`

const FLAGS = {
  tenant: { type: 'string' },
  env: { type: 'string' },
  name: { type: 'string' },
  templates: { type: 'string' },
  'pairing-ttl': { type: 'string' },
} as const

const ACTS = {
  register: { flags: ['tenant', 'env', 'name', 'templates', 'pairing-ttl'] },
  list: { flags: ['tenant', 'env'] },
  revoke: { flags: [], word: 'the device id' },
} as const

export async function runDevice(args: string[]): Promise<number> {
  const call = parseCall(args, FLAGS)
  const { values } = call
  if (values.help) return print(HELP)
  const { act, word: id } = actOf('device', call, ACTS)
  switch (act) {
    case 'register':
      return await register(values)
    case 'list':
      return await list(required(values.tenant, '--tenant'), values.env, values.json)
    case 'revoke':
      return await revoke(id, values.json)
  }
}

type RegisterFlags = {
  tenant?: string
  env?: string
  name?: string
  templates?: string
  'pairing-ttl'?: string
  json?: boolean
}

async function register(flags: RegisterFlags): Promise<number> {
  const tenantId = required(flags.tenant, '--tenant')
  const environment = choice(required(flags.env, '--env'), ENVIRONMENTS, '--env')
  const wanted = {
    name: nameOf(required(flags.name, '--name')),
    allowed_templates: templatesOf(required(flags.templates, '--templates')),
    ...(flags['pairing-ttl'] !== undefined && { pairing_ttl_seconds: ttlOf(flags['pairing-ttl']) }),
  }
  return await withDeps(async deps => {
    await requireTenant(deps, tenantId)
    const registration = await registerDevice(deps, { tenantId, environment }, wanted, ACTOR).catch(inWords)
    noteAssumedAddress(deps.config)
    return showOnce(registration, deps.config.publicUrl, flags.json)
  })
}

function nameOf(text: string): string {
  const problem = findNameProblem(text)
  if (problem) throw new UsageError(`--name: ${problem}`)
  return shortText(text, '--name', NAME_CHARS_MAX)
}

function templatesOf(list: string): string[] {
  const templates = [...new Set(list.split(',').map(key => key.trim()))].filter(Boolean)
  if (templates.length === 0) throw new UsageError('--templates: name at least one')
  if (templates.length > TEMPLATES_MAX) throw new UsageError(`--templates: more than ${TEMPLATES_MAX}`)
  return templates.map(key => shortText(key, '--templates', TEMPLATE_CHARS_MAX))
}

function ttlOf(text: string): number {
  const seconds = wholeNumber(text, '--pairing-ttl', TTL_MAX)
  if (seconds < TTL_MIN) throw new UsageError(`--pairing-ttl: at least ${TTL_MIN} seconds`)
  return seconds
}

/** A refusal of the verb, for somebody at the command line. */
function inWords(error: unknown): never {
  throw error instanceof ApiError ? new CommandError(error.message) : error
}

function showOnce({ device, pairingCode }: Registration, publicUrl: string, json = false): number {
  const link = pairingLink(publicUrl, pairingCode)
  if (json) return print(JSON.stringify({ device: wire(device), pairing_code: pairingCode, pairing_url: link }))
  return print(`${pairingCode}

${encodeQR(link, 'ascii', { ecc: 'low', border: 2 })}

Scan it with the till, or open ${link}
This is the only time the code of ${device.id} is shown. It works once, until ${isoUtc(device.pairingExpiresAt)}.`)
}

async function list(tenantId: string, env: string | undefined, json = false): Promise<number> {
  const environments: readonly Environment[] = env === undefined ? ENVIRONMENTS : [choice(env, ENVIRONMENTS, '--env')]
  const devices = await withDeps(async deps => {
    await requireTenant(deps, tenantId)
    return (await Promise.all(environments.map(environment => listDevices(deps.db, { tenantId, environment })))).flat()
  })
  const newestFirst = devices.toSorted((a, b) => b.createdAt - a.createdAt)
  if (json) return print(JSON.stringify({ data: newestFirst.map(wire) }))
  const rows = newestFirst.map(device => [
    device.id,
    device.name,
    device.environment,
    device.status,
    device.lastSeenAt === null ? 'never' : isoUtc(device.lastSeenAt),
    device.allowedTemplates.join(','),
  ])
  return print(printable(table(['ID', 'NAME', 'ENV', 'STATUS', 'LAST SEEN', 'TEMPLATES'], rows)))
}

async function revoke(id: string, json = false): Promise<number> {
  const device = await withDeps(async deps => {
    const known = await findDeviceOfAnyone(deps.db, id.toLowerCase())
    if (!known) throw new CommandError(`there is no device ${id}; "vidimus device list --tenant ID" shows a tenant's devices`)
    return await revokeDevice(deps, known, known.id, ACTOR)
  })
  return print(json ? JSON.stringify(wire(device)) : printable(`Device ${device.id} (${device.name}) is revoked.`))
}

const wire = (device: DeviceRow) => ({ ...presentDevice(device), environment: device.environment })
