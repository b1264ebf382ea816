import { isoUtc } from '../time.ts'
import { readDeliveries } from '../webhooks/log.ts'
import { replayDeliveries, replayFailed } from '../webhooks/replay.ts'
import { DELIVERY_STATUSES, type DeliveryAttempt } from '../webhooks/schema.ts'
import { findDeliveryOfAnyone } from '../webhooks/store.ts'
import { requireTenant } from './key.ts'
import {
  ACTOR,
  actOf,
  CommandError,
  choice,
  parseCall,
  print,
  printable,
  required,
  table,
  UsageError,
  withDeps,
} from './output.ts'

const HELP = `usage: vidimus deliveries list --tenant ID [--status ${DELIVERY_STATUSES.join('|')}] [--json]
       vidimus deliveries replay ID [--json]
       vidimus deliveries replay --failed --tenant ID [--json]

The log of a tenant's webhooks: the newest 100, each with all of its attempts: time, address, status, and the beginning of what the receiver said
(all of it with --json). A replay starts from the first attempt again, under the same
webhook-id; a running server sends it at once.

example: vidimus deliveries list --tenant ten_… --status failed`

/** Of what a receiver said; --json has all that is kept. */
const SAID_CHARS_MAX = 200

const FLAGS = { tenant: { type: 'string' }, status: { type: 'string' }, failed: { type: 'boolean' } } as const

const ACTS = {
  list: { flags: ['tenant', 'status'] },
  replay: { flags: [], word: 'the delivery id' },
} as const

const BULK_ACTS = { replay: { flags: ['failed', 'tenant'] } } as const

export async function runDeliveries(args: string[]): Promise<number> {
  const call = parseCall(args, FLAGS)
  const { help, json, tenant, status, failed } = call.values
  if (help) return print(HELP)
  if (failed) {
    actOf('deliveries', call, BULK_ACTS)
    return await replayAllFailed(required(tenant, '--tenant'), json)
  }
  const { act, word: id } = actOf('deliveries', call, ACTS)
  switch (act) {
    case 'list':
      return await list(required(tenant, '--tenant'), status, json)
    case 'replay':
      return await replay(id, json)
  }
}

async function list(tenantId: string, status: string | undefined, json = false): Promise<number> {
  const filter = status === undefined ? {} : { status: choice(status, DELIVERY_STATUSES, '--status') }
  const data = await withDeps(async deps => {
    await requireTenant(deps, tenantId)
    return await readDeliveries(deps, tenantId, filter)
  })
  if (json) return print(JSON.stringify({ data }))
  const rows = data.map(each => [each.id, each.created_at, each.type, each.status, each.request_id ?? '-'])
  const [heading = '', ...lines] = table(['ID', 'CREATED', 'TYPE', 'STATUS', 'REQUEST'], rows).split('\n')
  return print(printable([heading, ...lines.flatMap((line, i) => [line, ...(data[i]?.attempts ?? []).map(lineOf)])].join('\n')))
}

/** When, where, and what the receiver said, or why it said nothing. */
function lineOf({ attempt, at, outcome, http_status, address, ms, answer, detail }: DeliveryAttempt): string {
  const status = http_status === null ? outcome : `${outcome} ${http_status}`
  const told = (answer || detail || '').replace(/\s+/g, ' ').trim()
  const said = told.length > SAID_CHARS_MAX ? `${told.slice(0, SAID_CHARS_MAX)}…` : told
  return `  ${attempt}. ${at}  ${address ?? '-'}  ${status}  ${ms} ms  ${said}`.trimEnd()
}

async function replay(id: string, json = false): Promise<number> {
  if (!id.startsWith('whd_')) throw new UsageError(`"${id}" is no delivery id; they begin with whd_`)
  const [restarted] = await withDeps(async deps => {
    const known = await findDeliveryOfAnyone(deps.db, id)
    if (!known) throw new CommandError(`there is no delivery ${id}; "vidimus deliveries list --tenant ID" shows a tenant's`)
    return await replayDeliveries(deps, known.tenantId, { id }, { actor: ACTOR })
  })
  if (!restarted) throw new CommandError(`delivery ${id} is under way right now; try again in a few seconds`)
  const wire = { id, status: restarted.status, next_attempt_at: isoUtc(restarted.dueAt) }
  return print(json ? JSON.stringify(wire) : `Delivery ${id} is due now.`)
}

/** In parts, between which a running server goes on with its own work. */
async function replayAllFailed(tenantId: string, json = false): Promise<number> {
  const count = await withDeps(async deps => {
    await requireTenant(deps, tenantId)
    let count = 0
    for (let hasMore = true; hasMore; ) {
      const part = await replayFailed(deps, { tenantId }, { actor: ACTOR })
      count += part.replayed
      hasMore = part.hasMore
    }
    return count
  })
  return print(json ? JSON.stringify({ replayed: count }) : `${count} deliveries are due now.`)
}
