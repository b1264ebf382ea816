import { type EngineCheck, ok, runCheck } from '../check.ts'
import type { Connect } from './connect.ts'
import type { Nodes } from './nodes.ts'
import { createSession } from './session.ts'

/** The part of doctor that only PostgreSQL can be asked. */
export async function runChecks(connect: Connect, nodes: Nodes): Promise<EngineCheck[]> {
  const session = createSession(() => connect.open('read'))
  try {
    return [
      { name: 'server', ...(await runCheck(async () => ok(`${(await nodes.list()).length} nodes are running.`))) },
      {
        name: 'database',
        ...(await runCheck(async () => {
          const [row] = await session.rows<{ version: string }>("SELECT current_setting('server_version') AS version")
          return ok(`PostgreSQL ${row!.version} answers.`)
        })),
      },
    ]
  } finally {
    await session.close()
  }
}
