// What the first customer after a start needs is loaded while nobody asks: on a small machine it would take that customer half a
// second. A piece in each turn of the event loop, so that a request which comes meanwhile waits for one piece at most.
import { describeFailure } from '../base/log.ts'
import type { Deps } from '../deps.ts'
import { resolveTemplate } from '../templates/resolve.ts'
import { openOne } from '../verifications/read.ts'

/** The framework makes the handler of a route, and its schemas, when the first request comes. */
type Route = { method: string; path: string; compile(): unknown }

/** From a creation to the result, by link or QR code; a page that a person opens; the tokens of tills. */
export const FIRST = [
  'POST /v1/verifications',
  'GET /wallet/request/:sessionId',
  'POST /wallet/response/:sessionId',
  'GET /v1/verifications/:id/status',
  'GET /v1/verifications/:id',
  'GET /v/:id/data',
  'POST /v1/verifications/:id/redeem',
  'POST /v1/devices/token',
]

const NOBODY = 'vs_0000000000000000000000'

export async function warmUp(deps: Deps, routes: readonly Route[], isStopped: () => boolean): Promise<void> {
  const first = routes.filter(({ method, path }) => FIRST.includes(`${method} ${path}`))
  const pieces: (() => unknown)[] = [
    ...first.map(route => () => route.compile()),
    () => openOne(deps, { tenantId: 'ten_0', environment: 'live' }, NOBODY),
    () => resolveTemplate(deps.db, 'ten_0', 'age_over_18'),
    // Not those of Test: the sandbox would be made, which a shop may never use.
    () => deps.anchors('live'),
    async () => deps.requestSigner((await deps.identity('ten_0')).signingKeyId),
  ]
  for (const load of pieces) {
    await new Promise(resolve => setImmediate(resolve))
    if (isStopped()) return
    try {
      await load()
    } catch (error) {
      // Nothing is lost: the first request loads it, and says what is wrong.
      deps.log.debug('service.not_warm', { failure: describeFailure(error) })
    }
  }
}
