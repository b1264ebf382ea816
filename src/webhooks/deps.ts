import type { Audit } from '../audit/append.ts'
import type { Ground } from '../ground.ts'
import type { Outbox } from './outbox.ts'

export type Deps = Ground & { audit: Audit; outbox: Outbox }
