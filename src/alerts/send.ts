// Mail that is owed because of alerts. A failing server delays only this job: each round ends with its first failure, and what is
// left is tried again, ever more rarely, for three days.
import { sha256Hex } from '../base/hash.ts'
import { DAY_MS, utcDay } from '../base/time.ts'
import type { CheckName } from '../doctor/check.ts'
import type { Found } from '../doctor/examine.ts'
import { readOwnerAddresses } from '../people/users/addresses.ts'
import { deliver } from './deliver.ts'
import type { Deps } from './deps.ts'
import { type AlertRow, claimDue, keepUnsent, listDue } from './store.ts'

const MINUTE_MS = 60_000
/** A process that is killed while it sends leaves the rest to another one after this time. */
const CLAIM_MS = 10 * MINUTE_MS
const WAIT_MS_MAX = 4 * 60 * MINUTE_MS
const KEPT_DAYS = 3

export async function sendOwed(deps: Deps, signal?: AbortSignal): Promise<void> {
  for (const due of await listDue(deps.db, deps.now())) {
    const claimed = await deps.write(tx => claimDue(tx, due, deps.now() + CLAIM_MS))
    if (claimed && !(await sendTo(deps, claimed, signal))) return
  }
}

/** False when the server takes no mail now. */
async function sendTo(deps: Deps, alert: AlertRow, signal?: AbortSignal): Promise<boolean> {
  const addresses = await readOwnerAddresses(deps)
  // Who was removed meanwhile gets none.
  const owed = alert.unsent.filter(userId => addresses.has(userId))
  const refused: string[] = []
  for (const [i, userId] of owed.entries()) {
    const id = sha256Hex(`${alert.cause} ${alert.mailDay} ${userId}`).slice(0, 32)
    const outcome = await deliver(deps, {
      to: addresses.get(userId)!,
      say: words => words.alert(aboutOf(deps, alert)),
      id,
      signal,
    })
    const left = [...refused, ...owed.slice(i + (outcome.ok ? 1 : 0))]
    const isHopeless = !outcome.ok && outcome.failure !== 'receiver_refused'
    await deps.write(tx => keepUnsent(tx, alert.cause, left, nextTry(deps, alert, left)))
    if (isHopeless) return false
    if (!outcome.ok) refused.push(userId)
  }
  if (owed.length === 0) await deps.write(tx => keepUnsent(tx, alert.cause, [], null))
  return true
}

function nextTry({ now }: Deps, { mailDay, attempts }: AlertRow, left: string[]): number | null {
  if (left.length === 0 || mailDay <= utcDay(now() - KEPT_DAYS * DAY_MS)) return null
  return now() + Math.min(MINUTE_MS * 2 ** (attempts - 1), WAIT_MS_MAX)
}

const aboutOf = ({ config }: Deps, { checkName, finding, raisedAt }: AlertRow) => ({
  publicUrl: config.publicUrl,
  name: checkName as CheckName,
  finding: finding as Found,
  since: raisedAt,
})
