// Somebody keeps every file that was ever written, but the keys. After the window nothing of an erased person opens from any of it.
import { afterAll, expect } from 'bun:test'
import { join } from 'node:path'
import { createBackups } from '../../src/upkeep/schedule.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, type TestApp } from '../helpers/app.ts'
import { namesIn } from '../helpers/directories.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { databasesOf, keepCopy, passDay, textsAbout } from '../helpers/keys.ts'
import { QUERIES } from '../helpers/queries.ts'
import { receive, startAppFor, stopReceiving, untilAttempted } from '../helpers/receiver.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

afterAll(async () => {
  stopReceiving()
  await cleanUp()
})

const WINDOW_DAYS = 14

/** Answered, with everything that a session can have: secrets, query, result, moments, an attempt, a kept 201, audit details. */
async function answered(app: TestApp, key: string, url: string, name: string): Promise<string> {
  // Sessions of one moment are dated one after the other, and their deliveries too.
  app.clock.advance(1000)
  const headers = { 'idempotency-key': `order-${name}-0001` }
  const body = { ...QUERIES['dc+sd-jwt'], webhook_url: url, purpose: `for ${name}`, metadata: { name } }
  const { id, wallet_uri } = (await app.call<Verification>('POST', '/v1/verifications', { key, body, headers })).body
  await answerWith(app, await holderOf(app), wallet_uri ?? '')
  await untilAttempted(app, id, 1)
  return id
}

async function readable(copies: string[], keyDir: string, id: string): Promise<string[]> {
  const texts = []
  for (const file of copies.flatMap(databasesOf)) texts.push(...(await textsAbout(file, keyDir, id)))
  return texts
}

sqliteOnly('the copies are of the file')(
  'after the window nothing about an erased person opens from any copy ever made, and the living still open',
  async () => {
    const shop = receive()
    const app = await startAppFor([shop], { config: { keyWindowDays: WINDOW_DAYS } })
    const backups = createBackups(app.deps)
    const { key } = await app.tenant()
    const copies: string[] = []
    const step = async () => {
      copies.push(keepCopy(app.dir))
      await backups.runWhenDue()
      copies.push(keepCopy(app.dir))
    }

    await step()
    const erasedSoon = await answered(app, key, shop.url(), 'Erika')
    await step()
    await app.call('DELETE', `/v1/verifications/${erasedSoon}`, { key })
    await step()
    const erasedLater = await answered(app, key, shop.url(), 'Max')
    const living = await answered(app, key, shop.url(), 'Kim')
    await step()
    for (let day = 0; day < 3; day++) {
      await passDay(app)
      await step()
    }
    await app.call('DELETE', `/v1/verifications/${erasedLater}`, { key })
    await step()

    const before = { soon: await readable(copies, app.dir, erasedSoon), later: await readable(copies, app.dir, erasedLater) }
    for (const texts of [before.soon, before.later]) {
      for (const part of [
        '"purpose":"for ',
        '"vct_values"',
        '"family_name":"',
        '"findings"',
        '"address"',
        '"wallet_uri"',
        '"environment"',
      ])
        expect([part, texts.some(text => text.includes(part))]).toEqual([part, true])
    }

    // The day of the erasure, then the window, each with a turn.
    for (let day = 0; day < WINDOW_DAYS + 1; day++) {
      await passDay(app)
      copies.push(keepCopy(app.dir))
    }
    expect(await readable(copies, app.dir, erasedSoon)).toEqual([])
    expect(await readable(copies, app.dir, erasedLater)).toEqual([])
    expect(namesIn(app.dir).filter(name => name.startsWith('wrapping-')).length).toBeLessThanOrEqual(WINDOW_DAYS + 2)

    expect(await textsAbout(join(copies.at(-1)!, 'vidimus.db'), app.dir, living)).not.toEqual([])
    const { body } = await app.call<Verification>('GET', `/v1/verifications/${living}`, { key })
    expect(body).toMatchObject({ status: 'completed', metadata: { name: 'Kim' }, claims: { family_name: expect.any(String) } })
  },
)
