// VIDIMUS_SMTP_URL: smtp://USER:PASSWORD@HOST:PORT or smtps://…; VIDIMUS_MAIL_FROM: ADDRESS, or NAME <ADDRESS>. Both throw with the
// reason. The first may hold a password and is never quoted.
import { findTextProblem } from '../base/plain-text.ts'
import { MAIL_ADDRESS, MAIL_ADDRESS_CHARS, type MailSettings } from './mail.ts'

/** Submission (RFC 6409), and submission over TLS (RFC 8314). */
const PORTS = { 'smtp:': 587, 'smtps:': 465 }
const NAME_CHARS_MAX = 100

export function parseMailUrl(text: string): Omit<MailSettings, 'from'> {
  const url = URL.parse(text)
  if (!url || !(url.protocol === 'smtp:' || url.protocol === 'smtps:') || !url.hostname)
    return refuse('use a form like smtp://user:password@mail.example:587, or smtps:// for TLS from the beginning')
  if (!/^\/?$/.test(url.pathname) || /[?#]/.test(text))
    refuse('nothing may follow host and port; a / ? # @ or : in the user or password must be percent-encoded, like %2F')
  if (url.password && !url.username) refuse('there is a password without a user')
  return {
    host: decoded(url.hostname.replace(/^\[|\]$/g, '')),
    port: url.port === '0' ? refuse('port 0 is no port') : Number(url.port || PORTS[url.protocol]),
    isTls: url.protocol === 'smtps:',
    user: decoded(url.username),
    password: decoded(url.password),
  }
}

export function parseMailFrom(text: string): MailSettings['from'] {
  const [, name = '', address = ''] = /^(?:([^<>"]*)<([^<>]*)>)$/.exec(text) ?? [undefined, '', text]
  if (!isMailAddress(address)) refuse(`"${text}" is not like alerts@shop.example, or Shop <alerts@shop.example>`)
  const flaw = findTextProblem(name)
  if (flaw !== undefined || name.length > NAME_CHARS_MAX) refuse(flaw ?? `the name has more than ${NAME_CHARS_MAX} characters`)
  return { name: name.trim(), address }
}

const isMailAddress = (text: string): boolean =>
  text.length <= MAIL_ADDRESS_CHARS.maxLength && new RegExp(MAIL_ADDRESS).test(text)

function decoded(text: string): string {
  try {
    const plain = decodeURIComponent(text)
    return findTextProblem(plain) === undefined ? plain : refuse('the user and password take no control characters')
  } catch (error) {
    return error instanceof URIError
      ? refuse('a % in the user or password must be written %25')
      : refuse((error as Error).message)
  }
}

function refuse(reason: string): never {
  throw new Error(reason)
}
