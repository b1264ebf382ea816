import type { Deps as TrustDeps } from '../trust/deps.ts'
import type { Deps as WalletDeps } from '../verifications/exchange/deps.ts'

export type Deps = WalletDeps & TrustDeps
