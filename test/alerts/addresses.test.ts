import { afterAll, describe, expect, test } from 'bun:test'
import type { MailSent, MailSettings } from '../../src/alerts/schema.ts'
import type { User, UserLink } from '../../src/people/schema.ts'
import { assignRole } from '../../src/people/users/users.ts'
import { confirm, joinOwner, startAlerted, startMailing, tokenIn } from '../helpers/alerts.ts'
import { cleanUp, outcome } from '../helpers/app.ts'
import { joinMember, openBrowser, PASSWORD, setUpOwner, tokenOf } from '../helpers/dashboard.ts'
import { AUDIT_ENTRIES, rowsOf } from '../helpers/database.ts'
import { readMail, startBadServer, startMailServer } from '../helpers/mail-server.ts'

afterAll(cleanUp)

const HOUR_MS = 3_600_000
const ADDRESS = { address: 'olivia@shop.example', language: 'en' }
const settings = async (browser: ReturnType<typeof openBrowser>) => (await browser.get<MailSettings>('/mail')).body

describe('the mail address of an owner', () => {
  test('counts once its link was followed, which works once and for an hour', async () => {
    const server = await startMailServer()
    const app = await startMailing(server.mail)
    const boss = await setUpOwner(app)
    expect(await settings(boss)).toEqual({ from: 'alerts@shop.example', confirmed: null, pending: null })
    expect((await boss.put<MailSent>('/mail/address', ADDRESS)).body).toEqual({ failure: null, reply: null })
    const first = tokenIn(readMail(server.received[0]!).text)
    expect(await settings(boss)).toMatchObject({
      confirmed: null,
      pending: { ...ADDRESS, expires_at: '2026-03-04T13:00:00.000Z' },
    })
    expect(outcome(await boss.post('/mail/test'))).toBe('409 no_mail_address')
    // Whoever reads the mail need not be logged in.
    const stranger = openBrowser(app)
    expect(outcome(await stranger.post('/mail/confirm', { token: 'x'.repeat(43) }))).toBe('404 link_unavailable')
    // A newer link replaces it.
    await boss.put('/mail/address', ADDRESS)
    expect(outcome(await stranger.post('/mail/confirm', { token: first }))).toBe('404 link_unavailable')
    const second = tokenIn(readMail(server.received[1]!).text)
    app.clock.advance(HOUR_MS)
    expect(outcome(await stranger.post('/mail/confirm', { token: second }))).toBe('404 link_unavailable')
    app.clock.advance(-1)
    expect((await stranger.post('/mail/confirm', { token: second })).status).toBe(200)
    expect(outcome(await stranger.post('/mail/confirm', { token: second }))).toBe('404 link_unavailable')
    await boss.logIn('olivia')
    expect(await settings(boss)).toMatchObject({ confirmed: ADDRESS, pending: null })
    expect(rowsOf(app, 'SELECT hash FROM mail_addresses')).toEqual([{ hash: null }])
  })

  test('stays until a new one is confirmed, and is deleted on request', async () => {
    const server = await startMailServer()
    const { boss } = await startAlerted(server)
    const next = { address: 'office@shop.example', language: 'de' }
    await boss.put('/mail/address', next)
    expect(await settings(boss)).toMatchObject({ confirmed: ADDRESS, pending: next })
    await boss.post('/mail/confirm', { token: tokenIn(readMail(server.received[0]!).text) })
    expect(await settings(boss)).toMatchObject({ confirmed: next, pending: null })
    expect((await boss.delete('/mail/address')).status).toBe(200)
    expect(await settings(boss)).toMatchObject({ confirmed: null, pending: null })
  })

  test('is forgotten when the server does not take the mail, and the reply is shown', async () => {
    const { mail } = await startMailServer({ onRcptTo: (_, __, done) => done(new Error('No such user here')) })
    const app = await startMailing(mail)
    const boss = await setUpOwner(app)
    const { body } = await boss.put<MailSent>('/mail/address', ADDRESS)
    expect(body).toEqual({ failure: 'receiver_refused', reply: '550 No such user here' })
    expect(await settings(boss)).toMatchObject({ confirmed: null, pending: null })
  })

  test.each(['olivia', 'a@b\r\nBcc: c@d', '"x y"@shop.example', `${'a'.repeat(250)}@b.de`])('is refused as %s', async address => {
    const server = await startMailServer()
    const boss = await setUpOwner(await startMailing(server.mail))
    expect(outcome(await boss.put('/mail/address', { address, language: 'en' }))).toBe('400 invalid_request')
  })

  test('is not for members, and goes with the role and with the user', async () => {
    const server = await startMailServer()
    const { app, boss } = await startAlerted(server)
    const { id } = await app.tenant()
    const mia = await joinMember(app, id, 'mia')
    for (const answer of [await mia.get('/mail'), await mia.put('/mail/address', ADDRESS), await mia.post('/mail/test')])
      expect(outcome(answer)).toBe('403 owner_required')
    await confirm(await joinOwner(app, 'otto'), server, 'otto@shop.example')
    await confirm(await joinOwner(app, 'ines'), server, 'ines@shop.example')
    const idOf = async (name: string) =>
      (await boss.get<{ data: User[] }>('/users')).body.data.find(user => user.name === name)!.id
    await assignRole(app.deps, await idOf('otto'), { role: 'member', memberOf: id }, 'test')
    await boss.delete(`/users/${await idOf('ines')}`)
    expect(rowsOf(app, 'SELECT id FROM mail_addresses')).toHaveLength(1)
  })
})

test('a test mail is sent only when somebody asks, and tells what the server said', async () => {
  const server = await startMailServer()
  const { app, boss } = await startAlerted(server)
  expect((await boss.post<MailSent>('/mail/test')).body).toEqual({ failure: null, reply: null })
  expect(readMail(server.received[0]!).headers.get('subject')).toBe('verify.example: a test')
  app.deps.config.mail = await startBadServer(socket => void socket.end('554 Go away\r\n'))
  expect((await boss.post<MailSent>('/mail/test')).body).toEqual({ failure: 'refused', reply: '554 Go away' })
  app.deps.config.mail = undefined
  expect(outcome(await boss.post('/mail/test'))).toBe('409 mail_not_set_up')
  expect(await settings(boss)).toMatchObject({ from: null })
})

describe('a link to choose a password', () => {
  test('is mailed to whom its maker names, in that language, and puts a record on the audit trail', async () => {
    const server = await startMailServer()
    const app = await startMailing(server.mail)
    const boss = await setUpOwner(app)
    const { id: tenant } = await app.tenant()
    const { user, url } = (await boss.post<typeof UserLink.static>('/users', { name: 'mia', tenant })).body
    const body = { token: tokenOf(url), address: 'mia@shop.example', language: 'de' }
    expect((await boss.post<MailSent>(`/users/${user.id}/mail-link`, body)).body.failure).toBeNull()
    const [mail] = server.received
    const { headers, text } = readMail(mail!)
    expect([mail?.to, headers.get('subject')]).toEqual([['mia@shop.example'], 'verify.example: Einladung'])
    const mia = openBrowser(app)
    expect((await mia.post('/choose-password', { token: tokenIn(text), password: PASSWORD })).status).toBe(200)
    const reset = (await boss.post<typeof UserLink.static>(`/users/${user.id}/reset`)).body
    await boss.post(`/users/${user.id}/mail-link`, { ...body, token: tokenOf(reset.url) })
    expect(readMail(server.received[1]!).headers.get('subject')).toBe('verify.example: Link für ein neues Passwort')
    expect(rowsOf<{ action: string }>(app, `SELECT action FROM ${AUDIT_ENTRIES} WHERE action = 'user.link_mailed'`)).toHaveLength(
      2,
    )
    expect(app.logs.filter(line => line.includes('mia@'))).toEqual([])
  })

  test('is mailed for its own user only, while it works, and by owners only', async () => {
    const server = await startMailServer()
    const app = await startMailing(server.mail)
    const boss = await setUpOwner(app)
    const { id: tenant } = await app.tenant()
    const { user, url } = (await boss.post<typeof UserLink.static>('/users', { name: 'mia', tenant })).body
    const body = { token: tokenOf(url), address: 'mia@shop.example', language: 'en' }
    expect(outcome(await boss.post('/users/usr_other/mail-link', body))).toBe('404 link_unavailable')
    expect(outcome(await boss.post(`/users/${user.id}/mail-link`, { ...body, token: 'x'.repeat(43) }))).toBe(
      '404 link_unavailable',
    )
    await openBrowser(app).post('/choose-password', { token: body.token, password: PASSWORD })
    expect(outcome(await boss.post(`/users/${user.id}/mail-link`, body))).toBe('404 link_unavailable')
    const vic = await joinMember(app, tenant, 'vic')
    expect(outcome(await vic.post(`/users/${user.id}/mail-link`, body))).toBe('403 owner_required')
    expect(server.received).toEqual([])
  })
})
