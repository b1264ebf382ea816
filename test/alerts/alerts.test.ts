import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lookForAlerts } from '../../src/alerts/look.ts'
import { sendOwed } from '../../src/alerts/send.ts'
import { backupsFolder } from '../../src/db/files.ts'
import type { User } from '../../src/people/schema.ts'
import { confirm, eventsOf, joinOwner, lookAndSend, loseKey, startAlerted, startMailing } from '../helpers/alerts.ts'
import { cleanUp, NOON, until } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { readMail, startBadServer, startMailServer } from '../helpers/mail-server.ts'
import { declined, receive } from '../helpers/receiver.ts'

afterAll(cleanUp)

const HOUR_MS = 3_600_000
const subjectsOf = ({ received }: { received: Parameters<typeof readMail>[0][] }) =>
  received.map(mail => `${mail.to}: ${readMail(mail).headers.get('subject')}`)

describe('an alert', () => {
  test('reaches every owner by mail once a day while it lasts, each in their own language', async () => {
    const server = await startMailServer()
    const { app } = await startAlerted(server)
    await confirm(await joinOwner(app, 'otto'), server, 'otto@shop.example', 'de')
    await lookAndSend(app)
    expect(server.received).toEqual([])
    await loseKey(app)
    await lookAndSend(app)
    const day = ['olivia@shop.example: verify.example: Wrapping keys', 'otto@shop.example: verify.example: Sitzungsschlüssel']
    expect(subjectsOf(server).sort()).toEqual(day)
    const [english] = server.received.map(mail => readMail(mail).text)
    expect(english).toContain('https://verify.example/dashboard/settings/health')
    expect(english).toContain('Since 2026-03-04 12:00 UTC.')
    app.clock.advance(11 * HOUR_MS)
    await lookAndSend(app)
    expect(server.received).toHaveLength(2)
    app.clock.advance(HOUR_MS)
    await lookAndSend(app)
    expect(subjectsOf(server).sort()).toEqual([day[0]!, day[0]!, day[1]!, day[1]!])
    expect(eventsOf(app, 'alert.raised')).toEqual(['wrapping_key_missing'])
    expect(new Set(server.received.map(mail => readMail(mail).headers.get('message-id'))).size).toBe(4)
  })

  test('is cleared when its cause is gone; one that comes back on the same day is logged and not mailed again', async () => {
    const server = await startMailServer()
    const { app } = await startAlerted(server)
    const gauge = async () =>
      /vidimus_alerts_raised\{cause="wrapping_key_missing"\} (\d)/.exec(await app.deps.metrics.render())?.[1]
    expect(await gauge()).toBe('0')
    for (const bringBack of [await loseKey(app)]) {
      await lookAndSend(app)
      expect(await gauge()).toBe('1')
      bringBack()
    }
    await lookAndSend(app)
    expect(await gauge()).toBe('0')
    expect(eventsOf(app, 'alert.cleared')).toEqual(['wrapping_key_missing'])
    await loseKey(app)
    await lookAndSend(app)
    expect(await gauge()).toBe('1')
    expect(eventsOf(app, 'alert.raised')).toEqual(['wrapping_key_missing', 'wrapping_key_missing'])
    expect(server.received).toHaveLength(1)
    app.clock.advance(12 * HOUR_MS)
    await lookAndSend(app)
    expect(server.received).toHaveLength(2)
  })

  test('that is over leaves nothing behind on the next day', async () => {
    const server = await startMailServer()
    const { app } = await startAlerted(server)
    const bringBack = await loseKey(app)
    await lookAndSend(app)
    bringBack()
    await lookAndSend(app)
    expect(rowsOf(app, 'SELECT cause FROM alerts')).toHaveLength(1)
    app.clock.advance(12 * HOUR_MS)
    await lookAndSend(app)
    expect(rowsOf(app, 'SELECT cause FROM alerts')).toEqual([])
  })

  test('without a mail server is a log event and a gauge', async () => {
    const app = await startMailing(undefined)
    await loseKey(app)
    await lookAndSend(app)
    expect(eventsOf(app, 'alert.raised')).toEqual(['wrapping_key_missing'])
    expect(await app.deps.metrics.render()).toContain('vidimus_alerts_raised{cause="wrapping_key_missing"} 1')
    expect(eventsOf(app, 'mail.failed')).toEqual([])
  })

  test('is not cleared by a check that gives no answer', async () => {
    const app = await startMailing(undefined)
    await loseKey(app)
    await lookForAlerts(app.deps)
    await lookForAlerts({ ...app.deps, sessionKeys: { ...app.deps.sessionKeys, look: () => Promise.reject(new Error('away')) } })
    expect(eventsOf(app, 'alert.cleared')).toEqual([])
  })

  test('waits for an address that is confirmed later in the day', async () => {
    const server = await startMailServer()
    const app = await startMailing(server.mail)
    await loseKey(app)
    await lookAndSend(app)
    await confirm(await joinOwner(app, 'otto'), server, 'otto@shop.example')
    await lookAndSend(app)
    expect(subjectsOf(server)).toEqual(['otto@shop.example: verify.example: Wrapping keys'])
  })
})

describe('a mail server that fails', () => {
  test('loses nothing: what is owed is sent later, after a restart too', async () => {
    const server = await startMailServer()
    const { app } = await startAlerted(server)
    const bringBack = await loseKey(app)
    app.deps.config.mail = await startBadServer(socket => void socket.destroy())
    await lookAndSend(app)
    await sendOwed(app.deps)
    bringBack()
    expect(app.logs.filter(line => line.includes('mail.failed'))).toHaveLength(1)
    await app.stop()
    const again = await startMailing(server.mail, { dir: app.dir, now: NOON + 59_999 })
    await sendOwed(again.deps)
    expect(server.received).toEqual([])
    again.clock.advance(1)
    await sendOwed(again.deps)
    await sendOwed(again.deps)
    expect(subjectsOf(server)).toEqual(['olivia@shop.example: verify.example: Wrapping keys'])
  })

  test('is asked ever more rarely, for three days after the last alert', async () => {
    const server = await startMailServer()
    const { app } = await startAlerted(server)
    await loseKey(app)
    app.deps.config.mail = await startBadServer(socket => void socket.destroy())
    await lookForAlerts(app.deps)
    const failures = () => eventsOf(app, 'mail.failed').length
    const tries: number[] = []
    for (let minute = 0; minute < 5 * 24 * 60; minute += 30) {
      const before = failures()
      await sendOwed(app.deps)
      if (failures() > before) tries.push(minute)
      app.clock.advance(30 * 60_000)
    }
    expect(tries.slice(0, 9)).toEqual([0, 30, 60, 90, 120, 150, 210, 300, 450])
    expect(tries.at(-1)).toBeGreaterThan(2 * 24 * 60)
    expect(tries.at(-1)).toBeLessThan(3 * 24 * 60)
  })

  test('for one receiver only does not keep the others waiting, who get it once', async () => {
    let isRefused = true
    const server = await startMailServer({
      onRcptTo: ({ address }, _, done) => done(isRefused && address.startsWith('olivia') ? new Error('Mailbox full') : null),
    })
    isRefused = false
    const { app } = await startAlerted(server)
    await confirm(await joinOwner(app, 'otto'), server, 'otto@shop.example')
    isRefused = true
    await loseKey(app)
    await lookAndSend(app)
    expect(subjectsOf(server)).toEqual(['otto@shop.example: verify.example: Wrapping keys'])
    isRefused = false
    app.clock.advance(60_000)
    await lookAndSend(app)
    expect(subjectsOf(server).at(-1)).toBe('olivia@shop.example: verify.example: Wrapping keys')
    expect(server.received).toHaveLength(2)
  })
})

test('a removed owner, and one who is an owner no more, get no mail that was owed', async () => {
  const server = await startMailServer()
  const { app, boss } = await startAlerted(server)
  await confirm(await joinOwner(app, 'otto'), server, 'otto@shop.example')
  await loseKey(app)
  await lookForAlerts(app.deps)
  const { data } = (await boss.get<{ data: User[] }>('/users')).body
  expect((await boss.delete(`/users/${data.find(({ name }) => name === 'otto')?.id}`)).status).toBe(200)
  await sendOwed(app.deps)
  expect(subjectsOf(server)).toEqual(['olivia@shop.example: verify.example: Wrapping keys'])
  expect(rowsOf(app, 'SELECT id FROM mail_addresses')).toHaveLength(1)
})

test('each failing receiver is a cause of its own', async () => {
  const server = await startMailServer()
  const receivers = [receive(() => new Response(null, { status: 500 })), receive(() => new Response(null, { status: 500 }))]
  const egressAllow = receivers.map(({ allow }) => allow)
  const { app } = await startAlerted(server, {
    resolve: async host => (host === 'verify.example' ? Promise.reject(new Error('unknown')) : ['127.0.0.1']),
    config: { egressAllow, webhookDelaysMs: [0] },
  })
  const { key } = await app.tenant()
  const failed = async () =>
    rowsOf<{ n: number }>(app, "SELECT count(*) AS n FROM webhook_deliveries WHERE status = 'failed'")[0]?.n
  for (const [i, receiver] of receivers.entries()) {
    await declined({ app, key }, receiver.url('/hook', `shop${i}.example`))
    await until(async () => {
      // An attempt that a busy machine interrupted is made again later.
      app.clock.advance(1000)
      return Number(await failed()) === i + 1
    })
    await lookAndSend(app)
  }
  const texts = server.received.flatMap(mail => {
    const { headers, text } = readMail(mail)
    return headers.get('subject') === 'verify.example: Receivers of webhooks' ? [text] : []
  })
  expect(texts).toHaveLength(2)
  for (const [i, receiver] of receivers.entries()) {
    expect(texts[i]).toContain(`:${receiver.port}`)
    expect(texts[1 - i]).not.toContain(`:${receiver.port}`)
  }
})

sqliteOnly('PostgreSQL is backed up by its own tools')('an old backup raises an alert', async () => {
  const app = await startMailing(undefined)
  const folder = backupsFolder(app.dir)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'hourly-20260304T100000Z.db'), '')
  await lookForAlerts(app.deps)
  expect(eventsOf(app, 'alert.raised')).toEqual([])
  app.clock.advance(1)
  await lookForAlerts(app.deps)
  expect(eventsOf(app, 'alert.raised')).toEqual(['backup_old'])
})

test('neither addresses nor passwords reach the log or the database in the clear', async () => {
  const server = await startMailServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, done) =>
      password === 'pa55word-of-mail' ? done(null, { user: username }) : done(new Error(`${username} ${password}`)),
  })
  server.mail.user = 'mailer-user'
  server.mail.password = 'pa55word-of-mail'
  const { app } = await startAlerted(server)
  await loseKey(app)
  await lookAndSend(app)
  app.deps.config.mail = { ...server.mail, password: 'wrong-pa55word' }
  app.clock.advance(12 * HOUR_MS)
  await lookAndSend(app)
  const kept = [
    ...app.logs,
    ...['alerts', 'mail_addresses', 'installation', 'audit_records'].map(table =>
      JSON.stringify(rowsOf(app, `SELECT * FROM ${table}`)),
    ),
  ]
  expect(app.logs.join()).toContain('"log_in_refused"')
  for (const secret of ['olivia@shop', 'mailer-user', 'pa55word']) expect(kept.filter(text => text.includes(secret))).toEqual([])
})
