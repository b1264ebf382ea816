// A real SMTP server, with what mail servers do: log-in, STARTTLS, refusals.
import { createServer, type Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { MailSettings } from '../../src/egress/mail.ts'
import { endFirst } from './app.ts'

export type Received = { to: string[]; data: string; isEncrypted: boolean; user: string | undefined }

const ends: (() => void)[] = []
endFirst(() => ends.forEach(end => void end()))

/** As its settings would be read; `received` are the mails it took. */
export async function startMailServer(options: SMTPServerOptions = {}) {
  const received: Received[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 1,
    onData(stream, { envelope, secure, user }, done) {
      const chunks: Buffer[] = []
      stream.on('data', chunk => chunks.push(chunk as Buffer))
      stream.on('end', () => {
        const to = envelope.rcptTo.map(({ address }) => address)
        received.push({
          to,
          data: Buffer.concat(chunks).toString(),
          isEncrypted: secure === true,
          user: user as string | undefined,
        })
        done()
      })
    },
    ...options,
  })
  // A client that refuses the certificate is no fault of this server.
  server.on('error', () => {})
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', () => listening()))
  ends.push(() => server.close())
  return { received, mail: settingsAt((server.server.address() as { port: number }).port) }
}

/** A server that speaks as `serve` does, or not at all. */
export async function startBadServer(serve: (socket: Socket) => void): Promise<MailSettings> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    ends.push(() => socket.destroy())
    serve(socket)
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', () => listening()))
  ends.push(() => server.close())
  return settingsAt((server.address() as { port: number }).port)
}

const settingsAt = (port: number): MailSettings => ({
  host: '127.0.0.1',
  port,
  isTls: false,
  user: '',
  password: '',
  from: { name: 'Corner Shop', address: 'alerts@shop.example' },
})

/** Header by name, and the text, as a mail program shows them. */
export function readMail({ data }: Received): { headers: Map<string, string>; text: string } {
  const [head = '', ...body] = data.split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = new Map(
    lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), decodeWords(line.slice(line.indexOf(':') + 2))]),
  )
  const text = body.join('\r\n\r\n')
  return {
    headers,
    text: headers.get('content-transfer-encoding') === 'quoted-printable' ? unquote(text.replaceAll('=\r\n', '')) : text,
  }
}

const unquote = (text: string): string =>
  Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()

const decodeWords = (text: string): string =>
  text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([QB])\?(.*?)\?=/g, (_, kind: string, word: string) =>
      kind === 'B' ? Buffer.from(word, 'base64').toString() : unquote(word.replaceAll('_', ' ')),
    )
