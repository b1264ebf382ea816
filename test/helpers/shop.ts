// One service for all tests of a file; each test has its own tenant.
import { afterAll, beforeAll, beforeEach } from 'bun:test'
import { NOON, startApp, type TestApp } from './app.ts'
import { rowsOf } from './database.ts'
import { freePort } from './free-port.ts'

export const SHOP = 'Wine & Co'

export type Shop = { app: TestApp; origin: string; tenantId: string; key: string; liveKey: string }

type Options = Parameters<typeof startApp>[0]

let shared: TestApp | undefined

/** Called at the top of a file. Each test starts at noon. */
export function shareService(): void {
  beforeAll(async () => {
    shared = await startApp({ config: { publicUrl: '' } })
  })
  beforeEach(() => shared?.clock.set(NOON))
  afterAll(async () => {
    await shared?.stop()
    shared = undefined
  })
}

/** A new shop at the file's service; with options, at its own on a port that can be reused. */
export async function startShop(options?: Options): Promise<Shop> {
  const app = options === undefined && shared ? shared : await startOwn(options)
  const { id: tenantId, key, liveKey } = await app.tenant({ name: SHOP })
  return { app, origin: app.deps.config.publicUrl, tenantId, key, liveKey }
}

const startOwn = async (options: Options) =>
  await startApp({ ...options, config: { publicUrl: '', port: await freePort(), ...options?.config } })

/** The same shop after a restart, at the same address. */
export async function startAgain({ app }: Shop): Promise<TestApp> {
  const port = Number(new URL(app.url).port)
  return await startApp({ dir: app.dir, now: app.clock.now(), config: { publicUrl: '', port } })
}

export const sessionsOf = ({ app, tenantId }: Shop) =>
  rowsOf<{ id: string }>(app.dir, `SELECT id FROM verification_sessions WHERE tenant_id = '${tenantId}'`)
