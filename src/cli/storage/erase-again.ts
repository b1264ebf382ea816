import { resolve } from 'node:path'
import { eraseAgain } from '../../verifications/erasure/erase-again.ts'
import { readErasureLog } from '../../verifications/erasure/erasures.ts'
import { argumentList, defineCommand } from '../command.ts'
import { ACTOR, CommandError } from '../output.ts'
import { withDeps } from '../with-deps.ts'

export const command = defineCommand(
  {
    summary: 'repeat erasures after PostgreSQL was restored to an earlier time',
    argument: argumentList('logs', 'LOG', 'the erasures.log of a node'),
    about: `Repeats the erasures that came after the moment a database was restored to. Give the erasures.log of
every node: it is in backups/ of its data directory, and names nobody. Do it before the service
starts. What was erased before that moment is gone already, and is not counted. "restore" does the
same for a database file by itself.`,
    example: 'vidimus erase-again node-1/erasures.log node-2/erasures.log && vidimus audit verify',
  },
  async ({ logs }, shell) => {
    const known = logs.map(read)
    const subjects = new Map(known.flatMap(log => [...log.subjects]))
    const erased = await withDeps(shell, deps => eraseAgain(deps, { subjects, actor: ACTOR, at: deps.now() }))
    return {
      json: { logs: logs.map(log => resolve(log)), erasures: subjects.size, erased_again: erased },
      text: `${subjects.size} erasures are in ${logs.length === 1 ? 'this log' : `these ${logs.length} logs`}; ${erased} restored verifications were erased again.`,
    }
  },
)

function read(file: string) {
  const log = open(file)
  if (!log) throw new CommandError(`there is no file ${resolve(file)}; give the erasures.log of every node`)
  if (log.since === Number.POSITIVE_INFINITY)
    throw new CommandError(`${resolve(file)} is no log of erasures; give the erasures.log of every node`)
  return log
}

function open(file: string) {
  try {
    return readErasureLog(file)
  } catch {
    throw new CommandError(`cannot read ${resolve(file)}; give the erasures.log of every node`)
  }
}
