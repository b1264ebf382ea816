// The one client that sends mail. Its server is the operator's choice, and no caller's: the rules for addresses of others do not
// apply, because a relay on this machine or in its network is usual. All else holds: the name is looked up once, certificates are
// checked, time and bytes are bounded.
import { isIP } from '../base/ip.ts'
import { REFUSED } from '../base/plain-text.ts'
import { within } from '../base/time.ts'
import { isPublicAddress } from './addresses.ts'
import type { EgressPolicy, Resolve } from './policy.ts'

export type MailSettings = {
  host: string
  port: number
  /** TLS from the first byte; otherwise STARTTLS where the server offers it. */
  isTls: boolean
  user: string
  password: string
  from: { name: string; address: string }
}

export type Mail = { to: string; subject: string; text: string; messageId: string }

export const MAIL_FAILURES = [
  'name_unknown',
  'unreachable',
  'broken_off',
  'too_slow',
  'tls_failed',
  'unencrypted',
  'log_in_refused',
  'receiver_refused',
  'refused',
  'cancelled',
] as const
export type MailFailure = (typeof MAIL_FAILURES)[number]

/** `reply`: words of the server. They may name the receiver, so they are for the user who asked, and never for the log. */
export type MailOutcome = { ok: true } | { ok: false; failure: MailFailure; reply?: string }

const RESOLVE_MS = 2000
const STEP_MS = 5000
/** With the look-up it is less than a page waits for an answer. */
export const MAIL_MS_MAX = 12_000
const ADDRESSES_TRIED_MAX = 3
const REPLY_BYTES_MAX = 16 * 1024
const REPLY_SHOWN_CHARS = 300

type Route = { mail: MailSettings; resolve: Resolve; egress: EgressPolicy }

/** Only what RFC 5321 allows without quotes: nothing in it can end a header or a command. */
export const MAIL_ADDRESS =
  "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*$"
export const MAIL_ADDRESS_CHARS = { minLength: 3, maxLength: 254 }

export async function sendMail({ mail, resolve, egress }: Route, message: Mail, signal?: AbortSignal): Promise<MailOutcome> {
  const addresses = await within(RESOLVE_MS, resolve(mail.host), () => []).catch(() => [])
  if (addresses.length === 0) return { ok: false, failure: 'name_unknown' }
  const late = AbortSignal.timeout(MAIL_MS_MAX)
  let outcome: MailOutcome | undefined
  for (const address of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
    outcome = await sendBy(address, { mail, egress, message }, signal ? AbortSignal.any([late, signal]) : late)
    if (signal?.aborted) return { ok: false, failure: 'cancelled' }
    // Nothing was sent, and another address may belong to a server that listens.
    if (outcome.ok || outcome.failure !== 'unreachable') break
  }
  return outcome!
}

type Sending = { mail: MailSettings; egress: EgressPolicy; message: Mail }

async function sendBy(address: string, { mail, egress, message }: Sending, signal: AbortSignal): Promise<MailOutcome> {
  // Loaded here: most services send no mail.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    host: address,
    port: mail.port,
    secure: mail.isTls,
    requireTLS: requiresTls(mail, address),
    ...(mail.user && { auth: { user: mail.user, pass: mail.password } }),
    tls: {
      servername: isIP(mail.host) === 0 ? mail.host : '',
      rejectUnauthorized: true,
      ...(egress.extraCa && { secureContext: egress.extraCa.secureContext() }),
    },
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    maxResponseSize: REPLY_BYTES_MAX,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    await transport.sendMail({
      from: mail.from,
      to: { name: '', address: message.to },
      subject: oneLine(message.subject),
      text: message.text,
      messageId: message.messageId,
      // Nobody's holiday notice answers (RFC 3834).
      headers: { 'auto-submitted': 'auto-generated' },
      signal,
    })
    return { ok: true }
  } catch (error) {
    return classify(error as SmtpError, mail, signal)
  } finally {
    transport.close()
  }
}

/** A password goes unencrypted only inside the own network: whoever sits between could take the offer of STARTTLS away. */
export const requiresTls = ({ user }: MailSettings, address: string): boolean => user !== '' && isPublicAddress(address)

const oneLine = (text: string): string => text.replace(new RegExp(`[${REFUSED}]+`, 'g'), ' ')

type SmtpError = Error & { code?: string; command?: string; syscall?: string; response?: string; responseCode?: number }

function classify(error: SmtpError, { password }: MailSettings, signal: AbortSignal): MailOutcome {
  const reply = error.response && shown(error.response, password)
  return { ok: false, failure: failureOf(error, signal), ...(reply && { reply }) }
}

function failureOf({ code, command, syscall, responseCode }: SmtpError, signal: AbortSignal): MailFailure {
  if (signal.aborted || code === 'ETIMEDOUT') return 'too_slow'
  if (code === 'ETLS') return responseCode === undefined ? 'tls_failed' : 'unencrypted'
  if (code === 'EAUTH') return 'log_in_refused'
  if (responseCode !== undefined) return command === 'RCPT TO' ? 'receiver_refused' : 'refused'
  // Errors of TLS come from no call of the system, and have no code of their own.
  if (code === 'ESOCKET' && syscall === undefined) return 'tls_failed'
  return syscall === 'connect' ? 'unreachable' : 'broken_off'
}

/** A server may repeat what it was sent. */
const shown = (reply: string, password: string): string =>
  oneLine(password ? reply.replaceAll(password, '***') : reply).slice(0, REPLY_SHOWN_CHARS)
