import type { Deps as DoctorDeps } from '../doctor/deps.ts'

export type Deps = DoctorDeps
