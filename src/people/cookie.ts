// Two cookies: of the session, and of a browser that its user logged in with before. The second opens nothing; it keeps
// strangers' wrong passwords from delaying that user in that browser (throttle.ts).

import { equalConstantTime, hmacSha256With } from '../base/hash.ts'
import type { Config } from '../config.ts'
import type { Configured, Making, Reading, Unsealing } from '../ground.ts'

const KNOWN_MS = 90 * 86_400_000
const ID_BYTES = 16
const TIME_BYTES = 6
const HEAD_BYTES = ID_BYTES + TIME_BYTES
const KNOWN_CHARS = 72
/** Stands for names that nobody has: their log-ins cost the same work. */
const NOBODY = { id: '', password: null }

const isHttps = ({ publicUrl }: Config): boolean => publicUrl.startsWith('https:')

/** Browsers refuse the __Host- prefix over plain http, which only this machine may use. */
const nameOf = (config: Config, name: string): string => (isHttps(config) ? `__Host-${name}` : `vidimus-${name}`)

const valueIn = (header: string | null, name: string, chars: number): string | undefined =>
  new RegExp(`(?:^|; *)${name}=([A-Za-z0-9_-]{${chars}})(?:;|$)`).exec(header ?? '')?.[1]

export const readCookie = (config: Config, header: string | null): string | undefined =>
  valueIn(header, nameOf(config, 'session'), 43)

/** No Max-Age: it ends with the browser; the server ends the session earlier. */
export function cookieFor(config: Config, value: string): string {
  return `${nameOf(config, 'session')}=${value}; ${attributes(config)}`
}

const attributes = (config: Config): string => `Path=/; HttpOnly; SameSite=Strict${isHttps(config) ? '; Secure' : ''}`

export const clearedCookie = (config: Config): string => `${cookieFor(config, '')}; Max-Age=0`

type Account = { id: string; password: string | null }
type KnownDeps = Reading & Unsealing & Configured

/** One for each user of a browser. A new password ends it, because its signature covers the hash of the password. */
export function browserCookieFor(deps: KnownDeps & Making, user: Account): string {
  const head = Buffer.alloc(HEAD_BYTES)
  head.set(deps.random(ID_BYTES))
  head.writeUIntBE(deps.now() + KNOWN_MS, ID_BYTES, TIME_BYTES)
  const value = Buffer.concat([head, signatureOf(deps, user, head)]).toString('base64url')
  return `${browserCookieName(deps, user)}=${value}; ${attributes(deps.config)}; Max-Age=${KNOWN_MS / 1000}`
}

/** The id of a browser that this user logged in with before; undefined for all others. */
export function readBrowser(deps: KnownDeps, header: string | null, user: Account = NOBODY): string | undefined {
  const value = Buffer.from(valueIn(header, browserCookieName(deps, user), KNOWN_CHARS) ?? '', 'base64url')
  const head = Buffer.alloc(HEAD_BYTES)
  value.copy(head)
  const isOurs = equalConstantTime(hex(signatureOf(deps, user, head)), hex(value.subarray(HEAD_BYTES)))
  if (!isOurs || user.password === null || head.readUIntBE(ID_BYTES, TIME_BYTES) <= deps.now()) return undefined
  return hex(head.subarray(0, ID_BYTES))
}

const browserCookieName = ({ config, sealer }: KnownDeps, { id }: Account): string =>
  nameOf(config, `browser-${hmacSha256With(sealer.key('known browser'))('name\0', id).toString('hex', 0, 8)}`)

const signatureOf = ({ sealer }: KnownDeps, { id, password }: Account, head: Uint8Array): Buffer =>
  hmacSha256With(sealer.key('known browser'))(`browser\0${id}\0${password ?? ''}\0`, head)

const hex = (bytes: Buffer): string => bytes.toString('hex')
