import type { Slip } from './list.ts'

export default [
  ['one more than the budget', 'takenFrom', '(burst - cost) * interval', 'burst * interval', 'http/limits'],
  ['door: a spent budget is forgotten', 'createBuckets', 'value[1].forgetAt <= at', 'true', 'http/rate-limit'],
  ['door: a full memory forgets nothing', 'createBuckets', 'value[1].forgetAt <= at', 'false', 'http/rate-limit'],
  [
    'door: a spent total is forgotten',
    'createBudgets',
    'forgetAtOf(after, pace, at)',
    'after.fullAt / PARTS_PER_MS',
    'http/rate-limit',
  ],
  ['door: memory without a bound', 'createBuckets', 'return buckets.size < BUCKETS_MAX', 'return true', 'http/rate-limit'],
  ['door: a short metrics token', 'metricsToken', '{16,256}$/', '{1,256}$/', 'config'],
  [
    'door: a closed sandbox issues',
    'createApp',
    'deps.config.hasSandbox ? sandboxRoutes(deps) : new Elysia()',
    'sandboxRoutes(deps)',
    'sandbox/off',
  ],
  ['depth limit off', 'countNames', '++depth > depthMax', 'false', 'http/envelope', 'json'],
  ['doubled names pass', 'parseJson', 'if (names !== countMembers(value))', 'if (false)', 'http/envelope', 'json'],
  ['U+0000 in JSON passes', 'refuseBadCharacters', "if (value.includes('\\0'))", 'if (false)', 'http/envelope', 'json'],
  ['a large number is rounded', 'keepLargeNumber', '> Number.MAX_SAFE_INTEGER ? new', '< 0 ? new', 'wallet/unusual'],
] satisfies Slip[]
