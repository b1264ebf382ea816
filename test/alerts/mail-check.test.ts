import { afterAll, expect, test } from 'bun:test'
import { confirm, startMailing } from '../helpers/alerts.ts'
import { cleanUp, type TestApp } from '../helpers/app.ts'
import { setUpOwner } from '../helpers/dashboard.ts'
import { examine } from '../helpers/doctor.ts'
import { startBadServer, startMailServer } from '../helpers/mail-server.ts'

afterAll(cleanUp)

test('doctor says whether mail is set up and what became of the latest, and sends none', async () => {
  const found = async ({ deps }: TestApp) => {
    const [check] = await examine(deps, true, ['mail'])
    expect(check?.detail).not.toBe(check?.de.detail)
    return `${check?.status} ${check?.code}: ${check?.detail}`
  }
  expect(await found(await startMailing(undefined))).toStartWith('not_set_up no_mail: ')
  const server = await startMailServer()
  const app = await startMailing(server.mail)
  const boss = await setUpOwner(app)
  expect(await found(app)).toBe('warning mail_for_nobody: Mail is set up, but no owner has a confirmed address.')
  await confirm(boss, server, 'olivia@shop.example')
  const sent = 'ok mail_sent: 1 owner gets mail; the latest was sent at 2026-03-04T12:00:00Z.'
  expect(await found(app)).toBe(sent)
  app.clock.advance(60_000)
  app.deps.config.mail = await startBadServer(socket => void socket.destroy())
  await boss.post('/mail/test')
  expect(await found(app)).toBe(
    'problem mail_failing: The latest mail, at 2026-03-04T12:01:00Z, was not sent: the mail server broke the connection off.',
  )
  expect(server.received).toEqual([])
  app.deps.config.mail = server.mail
  await boss.post('/mail/test')
  expect(await found(app)).toBe(sent.replace('12:00', '12:01'))
})
