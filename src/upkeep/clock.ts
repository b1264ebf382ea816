import type { Acting } from '../audit/deps.ts'
import type { Reporting } from '../ground.ts'
import type { Deps } from './deps.ts'

const STEP_MIN_MS = 600_000

/**
 * The clock of the service never steps (time.ts). A record of the wall clock being set, or of the
 * machine sleeping, explains times in other records.
 */
export async function noticeClockStep(deps: Reporting & Acting & Pick<Deps, 'clockStep'>): Promise<void> {
  const byMs = deps.clockStep()
  if (Math.abs(byMs) <= STEP_MIN_MS) return
  deps.log.warn('clock.stepped', { ms: byMs })
  const details = { by_seconds: Math.round(byMs / 1000) }
  await deps.write(tx =>
    deps.audit.append(tx, {
      at: deps.now(),
      tenantId: '',
      actor: 'system',
      action: 'clock.stepped',
      subjectId: 'clock',
      details,
    }),
  )
}
