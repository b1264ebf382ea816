import type { Deps as DoctorDeps } from '../doctor/deps.ts'
import type { Deps as CreateDeps } from '../verifications/create/deps.ts'
import type { Deps as EraseDeps } from '../verifications/erasure/deps.ts'

export type Deps = DoctorDeps & CreateDeps & EraseDeps
