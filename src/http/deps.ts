import type { Random } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Sealer } from '../base/seal.ts'
import type { Clock } from '../base/time.ts'
import type { Config } from '../config.ts'
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
  isOverloaded: () => boolean
  took: (ms: number) => void
  turns: Turns
}
