// Runs statements for a thread that waits for them: see beside() in database.ts.
import { serialize } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import { SQL } from 'bun'

type Asked = { options: SQL.Options; database: string; sql: string; values: unknown[] }

const { state, content } = workerData as { state: Int32Array<SharedArrayBuffer>; content: Uint8Array<SharedArrayBuffer> }
const clients = new Map<string, SQL>()

parentPort!.on('message', async ({ options, database, sql, values }: Asked) => {
  const client = clients.get(database) ?? new SQL({ ...options, database, max: 1, bigint: true } as SQL.Options)
  clients.set(database, client)
  const bytes = serialize(await answer(client, sql, values))
  content.set(bytes)
  Atomics.store(state, 0, bytes.length)
  Atomics.notify(state, 0)
})

async function answer(client: SQL, sql: string, values: unknown[]): Promise<object> {
  try {
    const found: Record<string, unknown>[] & { count: number } = await client.unsafe(sql, values)
    const rows = found.map(row =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value])),
    )
    return { rows, count: found.count }
  } catch (error) {
    return { failure: `${(error as Error).message}: ${sql}` }
  }
}
