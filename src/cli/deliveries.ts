import { isoUtc } from '../base/time.ts'
import { readDeliveries, readDeliveryOfAnyone } from '../webhooks/browse.ts'
import { replayById, replayFailed } from '../webhooks/replay.ts'
import { DELIVERY_STATUSES, type DeliveryAttempt } from '../webhooks/schema.ts'
import { argument, defineCommand } from './command.ts'
import { oneOf, optional, TENANT } from './flags.ts'
import { ACTOR, CommandError, table, UsageError } from './output.ts'
import { withDeps, withTenant } from './with-deps.ts'

/** A longer answer of a receiver is cut; --json prints all that is kept. */
const ANSWER_CHARS_MAX = 200

export const command = defineCommand(
  {
    summary: 'list and replay webhooks',
    subcommands: {
      list: { flags: { tenant: TENANT, status: optional(oneOf(DELIVERY_STATUSES)) } },
      replay: { argument: argument('id', 'ID', 'the delivery id') },
      'replay --failed': { flags: { tenant: TENANT } },
    },
    about: `The log of a tenant's webhooks: the newest 100, each with all of its attempts: time, address,
status, and the beginning of the receiver's answer (all of it with --json). A replay starts from
the first attempt again, under the same webhook-id; a running server sends it at once. "replay
--failed" replays everything that failed.`,
    example: 'vidimus deliveries list --tenant ten_… --status failed',
  },
  {
    async list({ tenant, status }, shell) {
      const data = await withTenant(shell, tenant, deps => readDeliveries(deps, tenant, status && { status }))
      const rows = data.map(each => [each.id, each.created_at, each.type, each.status, each.request_id ?? '-'])
      const [heading = '', ...lines] = table(['ID', 'CREATED', 'TYPE', 'STATUS', 'REQUEST'], rows).split('\n')
      const withAttempts = lines.flatMap((line, i) => [line, ...(data[i]?.attempts ?? []).map(attemptLine)])
      return { json: { data }, text: [heading, ...withAttempts].join('\n') }
    },

    async replay({ id }, shell) {
      if (!id.startsWith('whd_')) throw new UsageError(`"${id}" is no delivery id; they begin with whd_`)
      const [restarted] = await withDeps(shell, async deps => {
        const known = await readDeliveryOfAnyone(deps, id)
        if (!known) throw new CommandError(`there is no delivery ${id}; "vidimus deliveries list --tenant ID" shows a tenant's`)
        return await replayById(deps, known.tenantId, { id }, { actor: ACTOR })
      })
      if (!restarted) throw new CommandError(`delivery ${id} is being sent right now; try again in a few seconds`)
      const json = { id, status: restarted.status, next_attempt_at: isoUtc(restarted.dueAt) }
      return { json, text: `Delivery ${id} is due now.` }
    },

    async 'replay --failed'({ tenant: tenantId }, shell) {
      const replayed = await withTenant(shell, tenantId, async deps => {
        let count = 0
        // A running server does its own writes between two batches.
        for (let hasMore = true; hasMore; ) {
          const batch = await replayFailed(deps, { tenantId }, { actor: ACTOR })
          count += batch.replayed
          hasMore = batch.hasMore
        }
        return count
      })
      return { json: { replayed }, text: `${replayed} deliveries are due now.` }
    },
  },
)

function attemptLine({ attempt, at, outcome, http_status, address, ms, answer, detail }: DeliveryAttempt): string {
  const status = http_status === null ? outcome : `${outcome} ${http_status}`
  const whole = (answer || detail || '').replace(/\s+/g, ' ').trim()
  const shown = whole.length > ANSWER_CHARS_MAX ? `${whole.slice(0, ANSWER_CHARS_MAX)}…` : whole
  return `  ${attempt}. ${at}  ${address ?? '-'}  ${status}  ${ms} ms  ${shown}`.trimEnd()
}
