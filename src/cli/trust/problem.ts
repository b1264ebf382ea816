import { TrustProblem } from '../../trust/settings.ts'
import { CommandError } from '../output.ts'

export function asCommandError(error: unknown): never {
  throw error instanceof TrustProblem ? new CommandError(error.message) : error
}
