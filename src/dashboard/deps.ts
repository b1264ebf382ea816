import type { Deps as DoctorDeps } from '../doctor/deps.ts'
import type { Deps as SandboxDeps } from '../sandbox/deps.ts'
import type { Deps as CreateDeps } from '../verifications/create/deps.ts'
import type { Deps as EraseDeps } from '../verifications/erasure/deps.ts'
import type { Deps as ExchangeDeps } from '../verifications/exchange/deps.ts'

/** The whole sandbox comes first: doctor knows a part of it. */
export type Deps = Pick<SandboxDeps, 'sandbox'> & DoctorDeps & CreateDeps & EraseDeps & ExchangeDeps
