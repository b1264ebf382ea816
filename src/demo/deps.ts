import type { Deps as VerificationDeps } from '../verifications/deps.ts'

export type Deps = VerificationDeps
