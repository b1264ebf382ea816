import { readBody } from '../../../http/body.ts'
import { apiError } from '../../../http/errors.ts'
import { findVerification } from '../../store.ts'
import { recordEvent } from '../../timeline.ts'
import type { Deps } from '../deps.ts'
import type { Door } from './request.ts'
import { TransportFailure } from './schema.ts'

/** For the timeline and the operator; a session that has ended takes it too. */
export async function inPersonFailure(deps: Deps, { id, caller, request }: Door): Promise<void> {
  const session = (await findVerification(deps.db, caller, id))?.verification
  if (!session) throw apiError('session_not_found')
  const { code }: TransportFailure = await readBody(request, TransportFailure)
  await deps.write(tx => recordEvent(deps, tx, session, 'in_person_failed', { code }))
  deps.metrics.count('vidimus_in_person_failures_total', { code })
}
