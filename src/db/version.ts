import { Database } from 'bun:sqlite'
import { versionOf } from './sqlite/version.ts'

/** The engines inside this program, by name. */
export const engineVersions = (): Record<string, string> => ({ sqlite: versionOf(new Database(':memory:')) })
