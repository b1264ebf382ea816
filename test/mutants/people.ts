import type { Slip } from './list.ts'

export default [
  ['dashboard shows any tenant', 'guard', '(visit.user.memberOf ?? tenant.id) !== tenant.id', 'false', 'dashboard/rights'],
  [
    'CSRF token not asked for',
    'refuseForged',
    "if (!equalConstantTime(request.headers.get('x-csrf-token') ?? '', csrfTokenOf(deps, visit))) throw",
    'if (false) throw',
    'dashboard/csrf',
  ],
  ['foreign origin taken', 'refuseForged', 'refuseForeign(deps.config, request) if', 'if', 'dashboard/csrf'],
  [
    'password not asked for again',
    'requireAll',
    "if (fresh === true || (fresh === 'live' && isLive(request))) requireFresh(visit, now)",
    '',
    'dashboard/session',
  ],
  [
    'a viewer changes settings',
    'requireAll',
    "if (role === 'viewer' && (claims || (changes(request) && !own))) throw",
    'if (false) throw',
    'dashboard/rights',
  ],
  ['idle session lives on', 'findVisit', '|| at >= found.session.seenAt + IDLE_MS', '', 'dashboard/session'],
  ['log-in throttle off', 'countAttempt', 'if (config.rateLimitScale === 0) return', 'if (true) return', 'dashboard/login'],
] satisfies Slip[]
