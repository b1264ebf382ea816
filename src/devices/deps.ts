import type { Deps as GuessDeps } from '../guesses/deps.ts'

export type Deps = GuessDeps
