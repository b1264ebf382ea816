import { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification } from '../helpers/app.ts'
import { sign } from '../helpers/audited.ts'
import { enroll, pair, refresh, register } from '../helpers/devices.ts'
import { openSession, postTo } from '../helpers/exchange.ts'
import { declined, receive, startAppFor, untilAttempted } from '../helpers/receiver.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

export const PURPOSE = 'To sell you a bottle of 1961 Hermitage'
const METADATA = { order: 'A-1001' }

/** A directory in which a bit of everything happened, stopped; with what its clients were told. */
export async function healthyDirectory() {
  const receiver = receive()
  const app = await startAppFor([receiver])
  const { key } = await app.tenant({ name: 'Shop', dailyQuota: 50 })
  const party = { app, key }

  const keyed = { template: 'age_over_18', purpose: PURPOSE, redirect_url: 'https://shop.example/done' }
  const headers = { 'idempotency-key': 'order-1' }
  const completed = (await app.call<Verification>('POST', '/v1/verifications', { key, body: keyed, headers })).body
  const { redirectUri = '' } = await answerWith(app, await holderOf(app), completed.wallet_uri ?? '')
  const body = { response_code: redirectUri.split('#response_code=')[1] }
  const { status } = await app.call('POST', `/v1/verifications/${completed.id}/redeem`, { key, body })
  if (status !== 200) throw new Error('not redeemed')

  app.clock.advance(1000)
  const failed = await declined(party, receiver.url())
  await untilAttempted(app, failed, 1)
  const pending = await createVerification(app, key, { metadata: METADATA })
  const erasedSession = await openSession(party, { purpose: PURPOSE, webhook_url: receiver.url(), metadata: METADATA })
  await postTo(erasedSession, 'error=access_denied', { 'content-type': 'application/x-www-form-urlencoded' })
  const erased = erasedSession.created.id
  await app.call('DELETE', `/v1/verifications/${erased}`, { key })
  const seq = await sign(app)

  const first = await pair(app, key)
  const second = (await refresh(app, first.refresh_token)).body
  const lost = await pair(app, key)
  await app.call('DELETE', `/v1/devices/${lost.device.id}`, { key })
  const waiting = await register(app, key)
  await enroll(app, 'VD-0000-0000')
  const publicKey = app.deps.audit.publicKey()
  await app.stop()
  receiver.stop()
  forgetCheckpointsAfter(app.dir, seq)
  return {
    dir: app.dir,
    publicKey,
    signedAt: seq,
    ids: { completed: completed.id, failed, pending: pending.id, erased },
    devices: { active: second.device.id, revoked: lost.device.id, waiting: waiting.device.id },
    hashOfRefresh: createHash('sha256').update(second.refresh_token).digest('hex'),
    created: completed,
  }
}

/** As a kill leaves it: a stop in order signs the rest. */
function forgetCheckpointsAfter(dir: string, seq: number): void {
  const sqlite = new Database(join(dir, 'vidimus.db'))
  sqlite.query('DELETE FROM audit_checkpoints WHERE seq > ?').run(seq)
  sqlite.close()
}
