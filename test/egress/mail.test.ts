import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { makeLocalTls } from '../../src/cli/tls/local-tls.ts'
import { readExtraCa } from '../../src/config.ts'
import { MAIL_ADDRESS, MAIL_MS_MAX, type MailSettings, requiresTls, sendMail } from '../../src/egress/mail.ts'
import type { EgressPolicy } from '../../src/egress/policy.ts'
import { cleanUp, temporaryDir } from '../helpers/app.ts'
import { readMail, startBadServer, startMailServer } from '../helpers/mail-server.ts'

afterAll(cleanUp)

const HOST = 'mail.venue.example'
const PASSWORD = 'p@ss/word 8'
const venue = await makeLocalTls({
  folder: temporaryDir(),
  hosts: [HOST],
  hostsDefault: [],
  at: Date.now(),
  random: count => new Uint8Array(randomBytes(count)),
})
const tls = { cert: readFileSync(venue.certFile, 'utf8'), key: readFileSync(venue.keyFile, 'utf8') }

const MESSAGE = {
  to: 'olivia@shop.example',
  subject: 'Backups',
  text: 'The newest backup is old.\n',
  messageId: '<1@shop.example>',
}

type Options = { extraCaFile?: string; addresses?: string[]; signal?: AbortSignal }

const send = (
  mail: MailSettings,
  message: Partial<typeof MESSAGE> = {},
  { extraCaFile = '', addresses, signal }: Options = {},
) => {
  const egress: EgressPolicy = { allow: [], listener: { addresses: [], port: 0 }, extraCa: readExtraCa(extraCaFile) }
  return sendMail({ mail, resolve: async () => addresses ?? ['127.0.0.1'], egress }, { ...MESSAGE, ...message }, signal)
}

const withLogIn = () =>
  startMailServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, done) =>
      password === PASSWORD ? done(null, { user: username }) : done(new Error(`No: ${username} ${password}`)),
  })

describe('a mail server that takes mail', () => {
  test('gets sender, receiver, subject and text as they were given', async () => {
    const { mail, received } = await startMailServer()
    expect(await send(mail, { subject: 'Schaufenster: Sicherungen fehlen', text: 'Größe: 5 €\n.\nEnde\n' })).toEqual({ ok: true })
    const { headers, text } = readMail(received[0]!)
    expect(received).toHaveLength(1)
    expect(received[0]?.to).toEqual(['olivia@shop.example'])
    expect(headers.get('from')).toBe('Corner Shop <alerts@shop.example>')
    expect(headers.get('subject')).toBe('Schaufenster: Sicherungen fehlen')
    expect(headers.get('message-id')).toBe('<1@shop.example>')
    expect(headers.get('auto-submitted')).toBe('auto-generated')
    expect(text).toContain('Größe: 5 €\r\n.\r\nEnde')
  })

  test('gets user and password when it asks for them', async () => {
    const { mail, received } = await withLogIn()
    expect(await send({ ...mail, user: 'shop', password: PASSWORD })).toEqual({ ok: true })
    expect(received[0]?.user).toBe('shop')
  })

  test('is spoken to over TLS when it offers STARTTLS, if its certificate is of a trusted authority', async () => {
    const { mail, received } = await startMailServer({ ...tls, disabledCommands: [] })
    const named = { ...mail, host: HOST }
    expect(await send(named)).toEqual({ ok: false, failure: 'tls_failed' })
    expect(received).toEqual([])
    expect(await send(named, {}, { extraCaFile: venue.caFile })).toEqual({ ok: true })
    expect(received[0]?.isEncrypted).toBe(true)
    expect(await send({ ...mail, host: 'other.venue.example' }, {}, { extraCaFile: venue.caFile })).toMatchObject({
      failure: 'tls_failed',
    })
  })

  test('is spoken to over TLS from the first byte with smtps', async () => {
    const { mail, received } = await startMailServer({ ...tls, secure: true })
    expect(await send({ ...mail, host: HOST, isTls: true }, {}, { extraCaFile: venue.caFile })).toEqual({ ok: true })
    expect(await send({ ...mail, host: HOST, isTls: true })).toEqual({ ok: false, failure: 'tls_failed' })
    expect(received.map(({ isEncrypted }) => isEncrypted)).toEqual([true])
  })
})

describe('a mail server that does not', () => {
  test('refuses a wrong password: its reply comes back without the password', async () => {
    const { mail } = await withLogIn()
    const outcome = await send({ ...mail, user: 'shop', password: 'wrong horse' })
    expect(outcome).toEqual({ ok: false, failure: 'log_in_refused', reply: '535 No: shop ***' })
  })

  test('refuses the receiver, or the mail: its reply comes back on one line', async () => {
    const noUser = await startMailServer({ onRcptTo: (_, __, done) => done(new Error('No such user')) })
    expect(await send(noUser.mail)).toEqual({ ok: false, failure: 'receiver_refused', reply: '550 No such user' })
    const full = await startMailServer({
      onData: (stream, _, done) => {
        stream.resume()
        stream.on('end', () => done(Object.assign(new Error('Full\u202e'), { responseCode: 452 })))
      },
    })
    const refused = await send(full.mail)
    expect(refused).toMatchObject({ ok: false, failure: 'refused', reply: expect.stringMatching(/^452 Full ?$/) })
  })

  test('has an unknown name, or listens nowhere: the next address is tried', async () => {
    const { mail, received } = await startMailServer()
    expect(await send(mail, {}, { addresses: [] })).toEqual({ ok: false, failure: 'name_unknown' })
    expect(await send(mail, {}, { addresses: ['127.0.0.2'] })).toEqual({ ok: false, failure: 'unreachable' })
    expect(received).toEqual([])
    expect(await send(mail, {}, { addresses: ['127.0.0.2', '127.0.0.1'] })).toEqual({ ok: true })
  })

  test('breaks off, floods, or is no mail server: the mail fails at once', async () => {
    const dropping = await startBadServer(socket => void socket.destroy())
    const flooding = await startBadServer(socket => {
      const more = () => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536)));
      }
      socket.on('drain', more)
      more()
    })
    const other = await startBadServer(socket => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
    for (const mail of [dropping, flooding, other])
      expect(await send(mail)).toMatchObject({ ok: false, failure: expect.stringMatching(/^(broken_off|refused)$/) })
  })

  test('hangs, or sends a byte now and then: the mail fails in bounded time, and at once when the service stops', async () => {
    const hanging = await startBadServer(() => {})
    const slow = await startBadServer(socket => {
      const timer = setInterval(() => socket.write('2'), 500)
      socket.on('close', () => clearInterval(timer))
    })
    const startedAt = performance.now()
    const outcomes = await Promise.all([send(hanging), send(slow)])
    expect(performance.now() - startedAt).toBeLessThan(MAIL_MS_MAX + 2000)
    expect(outcomes).toEqual([
      { ok: false, failure: 'too_slow' },
      { ok: false, failure: 'too_slow' },
    ])
    expect(await send(hanging, {}, { signal: AbortSignal.timeout(50) })).toEqual({ ok: false, failure: 'cancelled' })
  }, 30_000)
})

test('a password is sent unencrypted only to an address inside the own network', async () => {
  const { mail } = await startMailServer()
  expect(requiresTls({ ...mail, user: 'shop' }, '93.184.215.14')).toBe(true)
  expect(requiresTls({ ...mail, user: 'shop' }, '10.0.0.5')).toBe(false)
  expect(requiresTls(mail, '93.184.215.14')).toBe(false)
})

test('names, subjects and addresses cannot add a header or a receiver', async () => {
  const { mail, received } = await startMailServer()
  const evil = 'Shop\r\nBcc: eve@evil.example\r\n\r\nHello\u2028'
  expect(await send({ ...mail, from: { ...mail.from, name: evil } }, { subject: evil })).toEqual({ ok: true })
  const { headers, text } = readMail(received[0]!)
  expect(received[0]?.to).toEqual(['olivia@shop.example'])
  expect([...headers.keys()].sort()).toEqual([
    'auto-submitted',
    'content-transfer-encoding',
    'content-type',
    'date',
    'from',
    'message-id',
    'mime-version',
    'subject',
    'to',
  ])
  expect(headers.get('subject')).toBe('Shop Bcc: eve@evil.example Hello ')
  expect(text).not.toContain('eve@')
})

test('a mail address has nothing that SMTP or a header would read as more', () => {
  const isAddress = (text: string) => new RegExp(MAIL_ADDRESS).test(text)
  for (const good of ['a@b', 'olivia+alerts@shop.example', "o'hara@münchen.example".replace('ü', 'ue')])
    expect(isAddress(good)).toBe(true)
  for (const bad of [
    '',
    'olivia',
    '@b',
    'a@',
    'a b@c',
    'a@b\r\nRCPT TO:<c@d>',
    'a@b\n',
    'a@b>',
    '<a@b',
    'a@b,c@d',
    '"a b"@c',
    'a@b@c',
    'a..b@c',
    'ä@b',
  ])
    expect([bad, isAddress(bad)]).toEqual([bad, false])
})
