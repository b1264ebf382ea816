import type { Config } from '../config.ts'
import type { Random } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Sealer } from '../seal.ts'
import type { Clock } from '../time.ts'
import type { RateLimits } from './rate-limit.ts'
import type { Turns } from './turns.ts'

export type Deps = {
  config: Config
  now: Clock
  random: Random
  sealer: Sealer
  log: Log
  metrics: Metrics
  limits: RateLimits
  turns: Turns
}
