import { createLog, type Log } from '../base/log.ts'

/** A command prints its own result, so the verbs that it calls log nothing. */
export const quiet = <Given extends { log: Log }>(deps: Given): Given => ({
  ...deps,
  log: createLog({ level: 'silent', now: () => 0, write: () => {} }),
})
