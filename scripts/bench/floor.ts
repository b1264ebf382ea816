// The least that a durable creation over HTTP can cost on this stack: one route, its JSON body read, one row in one table with
// one more index, committed in a group by the service's own write(), and an answer as long as the service's. And the least of a
// poll: one look-up by key.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { createStorage, openReader, openWriter } from '../../src/db/sqlite/storage.ts'

const file = join(process.env.VIDIMUS_DATA_DIR!, 'floor.db')
const CONTENT = 'x'.repeat(220)
const WALLET_URI = `openid4vp://?${'x'.repeat(150)}`
const REQUEST_URI = `http://localhost:3000/wallet/request/${'x'.repeat(25)}`

const EXPIRES_AT = new Date().toISOString()

const writer = openWriter(file)
writer.run('CREATE TABLE rows (id TEXT PRIMARY KEY, owner TEXT NOT NULL, created_at INTEGER NOT NULL, content TEXT NOT NULL)')
writer.run('CREATE INDEX rows_newest ON rows (owner, created_at)')
const insert = writer.prepare('INSERT INTO rows (id, owner, created_at, content) VALUES (?, ?, ?, ?)')
const select = writer.prepare('SELECT content FROM rows WHERE id = ?')
const { write, close } = createStorage(writer, openReader(file))

const app = new Elysia({ normalize: false, precompile: true })
  .post('/v1/verifications', async ({ body, status }) => {
    const { template } = body as { template: string }
    const id = randomUUID()
    const at = Date.now()
    await write(() => insert.run(id, 'owner', at, CONTENT))
    const created_at = new Date(at).toISOString()
    const answer = { id, status: 'pending', template, wallet_uri: WALLET_URI, request_uri: REQUEST_URI, created_at }
    return status(201, { ...answer, expires_at: created_at })
  })
  .get('/v1/verifications/:id/status', ({ params }) => select.get(params.id) ?? { status: 'pending', expires_at: EXPIRES_AT })
  .listen({ port: 0, hostname: '127.0.0.1' })

console.log(JSON.stringify({ listening: `http://127.0.0.1:${app.server?.port}` }))

process.once('SIGTERM', async () => {
  await app.stop()
  await close()
})
