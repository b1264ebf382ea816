import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isIPv6 } from './base/ip.ts'
import { LOG_LEVELS, type LogLevel } from './base/log.ts'
import { readBeginning } from './base/read-beginning.ts'
import { type DatabaseSettings, parseDatabaseUrl } from './db/database-url.ts'
import { type AllowedDestination, type Network, parseAllowList, parseNetworks } from './egress/addresses.ts'
import type { ExtraCa } from './egress/authorities.ts'
import { parseExtraCa } from './egress/extra-ca.ts'
import type { MailSettings } from './egress/mail.ts'
import { parseMailFrom, parseMailUrl } from './egress/mail-url.ts'
import { parseLinkStart } from './openid4vp/exchange/link-start.ts'
import type { RegistrationForm } from './openid4vp/exchange/request-object.ts'
import { VARIABLES, type Variable } from './variables.ts'

export type Config = {
  port: number
  host: string
  /** `{base_url}` without a trailing slash, as wallets and merchants see it. Empty until the system has chosen the port. */
  publicUrl: string
  dataDir: string
  /** PostgreSQL; undefined for the file in `dataDir`. */
  database: DatabaseSettings | undefined
  /** The master key, unless another file holds it, and the wrapping keys. */
  keyDir: string
  /** `isGiven`: the operator put it there, and a group may read it. */
  masterKey: { file: string; isGiven: boolean }
  /** Backups of this age can still be restored: wrapping keys are kept as long. */
  keyWindowDays: number
  log: LogLevel
  /** The number of scheduled backups to keep; undefined makes none. */
  backups: { hourly: number; daily: number } | undefined
  /** Set by `serve --dev`, not by the environment. */
  isDev: boolean
  egressAllow: AllowedDestination[]
  /** Empty for none. */
  extraCaFile: string
  trustedProxies: Network[]
  tls: { certFile: string; keyFile: string } | undefined
  rateLimitScale: number
  /** Lets clients on other machines read /metrics. */
  metricsToken: string | undefined
  /** Undefined: no mail is sent. */
  mail: MailSettings | undefined
  /** Serves the sandbox wallet and the sandbox issuer. */
  hasSandbox: boolean
  /** Serves the OpenID provider. */
  hasOidc: boolean
  /** Looks at signed lists of issuers by itself. */
  trustRefresh: boolean
  /** How old a list of revocations may be that counts where no newer one can be had. */
  statusMaxAgeMs: number
  webhookDelaysMs: number[]
  /** Defaults of requests to wallets; a template may differ. */
  wallet: {
    profile: 'haip' | 'plain'
    /** The start of links to wallets: `link-start.ts`. */
    linkStart: string
    /** The method that links name for fetching a request. */
    requestUriMethod: 'get' | 'post'
    /** The form of a registration certificate in requests. */
    verifierInfoData: RegistrationForm
    clientIdPrefix: 'x509_hash' | 'x509_san_dns'
    registrationCertFile: string
  }
  /** The certificates that sign requests by ISO/IEC 18013-5, in person and through browsers. */
  readerAuth: 'auto' | 'access' | 'reader' | 'none'
  /** The wallet call of browsers. */
  dcApi: {
    mode: 'auto' | 'signed' | 'unsigned' | 'iso' | 'off'
    /** The name by which Google's wallet knows this relying party. */
    googleRpMetadata: string
  }
}

/** The message names the variable and says what to do. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

type Environment = Record<string, string | undefined>

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000 } as const
const WEBHOOK_ATTEMPTS_MAX = 12
/** Certificates, keys and passwords are far smaller. */
const FILE_BYTES_MAX = 1024 * 1024
/** Copies made before an upgrade, and replaced databases, are kept as long. */
const WINDOW_DAYS_DEFAULT = 14
const WEBHOOK_DELAY_MAX_MS = 72 * UNITS_MS.h
const STATUS_AGE_MAX_MS = 7 * 24 * UNITS_MS.h

export function loadConfig(env: Environment): Config {
  refuseUnknown(env)
  const text = (name: Variable) => env[name]?.trim() || VARIABLES[name].default
  const port = integer('PORT', text('PORT'), 0, 65_535)
  const plan = backups('VIDIMUS_BACKUPS', env.VIDIMUS_BACKUPS?.trim() ?? '', text('VIDIMUS_DATABASE_URL') !== '')
  const keyDir = text('VIDIMUS_KEY_DIR') || text('VIDIMUS_DATA_DIR')
  const tls = tlsFiles(text('VIDIMUS_TLS_CERT'), text('VIDIMUS_TLS_KEY'))
  return {
    port,
    host: hostOf(text('HOST')),
    publicUrl: publicUrl(env.VIDIMUS_PUBLIC_URL?.trim() ?? '', tls ? 'https' : 'http', port),
    dataDir: text('VIDIMUS_DATA_DIR'),
    database: database(text),
    keyDir,
    masterKey: masterKey(keyDir, text('VIDIMUS_MASTER_KEY_FILE'), env.CREDENTIALS_DIRECTORY),
    log: oneOf('VIDIMUS_LOG', text('VIDIMUS_LOG'), LOG_LEVELS),
    backups: plan,
    keyWindowDays: windowDays('VIDIMUS_KEY_WINDOW_DAYS', text('VIDIMUS_KEY_WINDOW_DAYS'), plan),
    isDev: false,
    extraCaFile: text('VIDIMUS_EXTRA_CA'),
    egressAllow: parsed('VIDIMUS_EGRESS_ALLOW', text('VIDIMUS_EGRESS_ALLOW'), parseAllowList),
    trustedProxies: parsed('VIDIMUS_TRUSTED_PROXIES', text('VIDIMUS_TRUSTED_PROXIES'), parseNetworks),
    tls,
    rateLimitScale: decimal('VIDIMUS_RATE_LIMIT_SCALE', text('VIDIMUS_RATE_LIMIT_SCALE'), 1000),
    metricsToken: metricsToken('VIDIMUS_METRICS_TOKEN', text('VIDIMUS_METRICS_TOKEN')),
    trustRefresh: oneOf('VIDIMUS_TRUST_REFRESH', text('VIDIMUS_TRUST_REFRESH'), ['on', 'off']) === 'on',
    statusMaxAgeMs: maxAge('VIDIMUS_STATUS_MAX_AGE', text('VIDIMUS_STATUS_MAX_AGE')),
    mail: mail(text('VIDIMUS_SMTP_URL'), text('VIDIMUS_MAIL_FROM')),
    hasSandbox: oneOf('VIDIMUS_SANDBOX', text('VIDIMUS_SANDBOX'), ['on', 'off']) === 'on',
    hasOidc: oneOf('VIDIMUS_OIDC', text('VIDIMUS_OIDC'), ['on', 'off']) === 'on',
    wallet: {
      profile: oneOf('VIDIMUS_WALLET_PROFILE', text('VIDIMUS_WALLET_PROFILE'), ['haip', 'plain']),
      linkStart: parsed('VIDIMUS_WALLET_SCHEME', text('VIDIMUS_WALLET_SCHEME'), parseLinkStart),
      requestUriMethod: oneOf('VIDIMUS_REQUEST_URI_METHOD', text('VIDIMUS_REQUEST_URI_METHOD'), ['get', 'post']),
      verifierInfoData: oneOf('VIDIMUS_VERIFIER_INFO_DATA', text('VIDIMUS_VERIFIER_INFO_DATA'), ['jwt', 'base64url']),
      clientIdPrefix: oneOf('VIDIMUS_CLIENT_ID', text('VIDIMUS_CLIENT_ID'), ['x509_hash', 'x509_san_dns']),
      registrationCertFile: text('VIDIMUS_REGISTRATION_CERT'),
    },
    readerAuth: oneOf('VIDIMUS_READER_AUTH', text('VIDIMUS_READER_AUTH'), ['auto', 'access', 'reader', 'none']),
    dcApi: {
      mode: oneOf('VIDIMUS_DC_API', text('VIDIMUS_DC_API'), ['auto', 'signed', 'unsigned', 'iso', 'off']),
      googleRpMetadata: base64url('VIDIMUS_GOOGLE_RP_METADATA', text('VIDIMUS_GOOGLE_RP_METADATA')),
    },
    webhookDelaysMs: delays('VIDIMUS_WEBHOOK_DELAYS', text('VIDIMUS_WEBHOOK_DELAYS')),
  }
}

function maxAge(name: Variable, value: string): number {
  const [, amount, unit] = /^([1-9]\d{0,2})([hd])$/.exec(value) ?? []
  const ms = Number(amount ?? 0) * (unit === 'd' ? 24 : 1) * UNITS_MS.h
  if (value !== '0' && (ms === 0 || ms > STATUS_AGE_MAX_MS))
    throw new ConfigError(`${name}: "${value}" is neither 0 nor a time from 1h to 7d`)
  return ms
}

/** systemd puts credentials (LoadCredential=) into a directory that only the service can read. */
function masterKey(keyDir: string, given: string, credentials: string | undefined): Config['masterKey'] {
  if (given) return { file: given, isGiven: true }
  const credential = credentials && join(credentials, 'vidimus-master-key')
  return credential && existsSync(credential)
    ? { file: credential, isGiven: true }
    : { file: join(keyDir, 'master.key'), isGiven: false }
}

function refuseUnknown(env: Environment): void {
  for (const name of Object.keys(env)) {
    if (name.startsWith('VIDIMUS_') && !(name in VARIABLES)) {
      fail(name, `there is no such setting; known are ${Object.keys(VARIABLES).join(', ')}`)
    }
  }
}

function fail(name: string, hint: string): never {
  throw new ConfigError(`${name}: ${hint}`)
}

const POSTGRES_ONLY = [
  'VIDIMUS_DATABASE_OWNER_URL',
  'VIDIMUS_DATABASE_PASSWORD_FILE',
  'VIDIMUS_DATABASE_CA',
  'VIDIMUS_DATABASE_LISTEN_URL',
] as const

function database(text: (name: Variable) => string): DatabaseSettings | undefined {
  const url = text('VIDIMUS_DATABASE_URL')
  if (!url) {
    const lonely = POSTGRES_ONLY.find(name => text(name))
    return lonely && fail(lonely, 'this is for PostgreSQL; set VIDIMUS_DATABASE_URL too, or remove it')
  }
  const address = parsed('VIDIMUS_DATABASE_URL', url, parseDatabaseUrl)
  const caFile = text('VIDIMUS_DATABASE_CA')
  if (caFile && !address.tls.startsWith('verify'))
    fail('VIDIMUS_DATABASE_CA', 'the server is checked only with ?sslmode=verify-full (or verify-ca) in VIDIMUS_DATABASE_URL')
  const prepare = oneOf('VIDIMUS_DATABASE_PREPARE', text('VIDIMUS_DATABASE_PREPARE'), ['on', 'off']) === 'on'
  const other = (name: Variable) => (text(name) ? parsed(name, text(name), parseDatabaseUrl) : undefined)
  const listen = other('VIDIMUS_DATABASE_LISTEN_URL')
  if (listen && prepare)
    fail('VIDIMUS_DATABASE_LISTEN_URL', 'only a pooler needs it, with VIDIMUS_DATABASE_PREPARE=off; remove it')
  const password = databasePassword(address.password, text('VIDIMUS_DATABASE_PASSWORD_FILE'))
  return {
    ...address,
    password,
    ca: caFile ? readNamedFile('VIDIMUS_DATABASE_CA', caFile) : undefined,
    connections: integer('VIDIMUS_DATABASE_CONNECTIONS', text('VIDIMUS_DATABASE_CONNECTIONS'), 6, 200),
    prepare,
    listen: listen && { ...listen, password: listen.password || password },
    owner: other('VIDIMUS_DATABASE_OWNER_URL'),
  }
}

/** A password keeps its spaces; only the line end that an editor adds is cut off. */
function databasePassword(given: string, file: string): string {
  if (!file) return given
  if (given) fail('VIDIMUS_DATABASE_PASSWORD_FILE', 'there is a password in VIDIMUS_DATABASE_URL too; remove one of them')
  const password = readNamedFile('VIDIMUS_DATABASE_PASSWORD_FILE', file).replace(/\r?\n$/, '')
  return password || fail('VIDIMUS_DATABASE_PASSWORD_FILE', `${file} is empty`)
}

export function readRegistrationCertificate(file: string): string | undefined {
  if (!file) return undefined
  const jwt = readNamedFile('VIDIMUS_REGISTRATION_CERT', file).trim()
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt)) return jwt
  return fail('VIDIMUS_REGISTRATION_CERT', `${file} does not hold a registration certificate (a JWT)`)
}

/** The certificates of VIDIMUS_EXTRA_CA; undefined without a file. */
export function readExtraCa(file: string): ExtraCa | undefined {
  if (!file) return undefined
  const read = parseExtraCa(readNamedFile('VIDIMUS_EXTRA_CA', file), file)
  return 'problem' in read ? fail('VIDIMUS_EXTRA_CA', read.problem) : read
}

/** The text of a file that a variable names. Throws a ConfigError. */
export function readNamedFile(name: Variable, file: string): string {
  const bytes = beginningOf(name, file)
  if (bytes.length > FILE_BYTES_MAX) fail(name, `${file} is larger than ${FILE_BYTES_MAX / 1024} KiB; name the right file`)
  return bytes.toString('utf8')
}

function beginningOf(name: Variable, file: string): Buffer {
  try {
    return readBeginning(file, FILE_BYTES_MAX + 1)
  } catch (error) {
    return fail(
      name,
      `cannot read ${file} (${(error as { code?: string }).code}); check the path, and that this user may read it`,
    )
  }
}

function integer(name: Variable, text: string, minimum: number, maximum: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= minimum && value <= maximum)) fail(name, `"${text}" is not a whole number from ${minimum} to ${maximum}`)
  return value
}

function decimal(name: Variable, text: string, maximum: number): number {
  const value = /^\d{1,4}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
  if (!(value <= maximum)) fail(name, `"${text}" is not a number from 0 to ${maximum}, like 0, 0.5 or 10`)
  return value
}

function oneOf<T extends string>(name: Variable, text: string, allowed: readonly T[]): T {
  const value = allowed.find(each => each === text)
  return value ?? fail(name, `"${text}" is not one of ${allowed.join(', ')}`)
}

/** Tools that back up a PostgreSQL server, for refusals. */
export const POSTGRES_BACKUPS = 'back up PostgreSQL with its own tools, such as pgBackRest, a WAL archive or pg_dump'

function backups(name: Variable, given: string, isPostgres: boolean): Config['backups'] {
  if (isPostgres && given && given !== 'off') fail(name, `the service makes no backups of PostgreSQL; ${POSTGRES_BACKUPS}`)
  const text = given || VARIABLES[name].default
  if (isPostgres || text === 'off') return undefined
  const [, hourly, daily] = /^(\d{1,3})h,(\d{1,3})d$/.exec(text) ?? fail(name, `"${text}" must be like 24h,14d, or off`)
  if (Number(hourly) + Number(daily) === 0) fail(name, 'use off to keep none')
  return { hourly: Number(hourly), daily: Number(daily) }
}

/** A shorter window would make backups useless, a longer one would keep erased people readable for nothing. */
function windowDays(name: Variable, text: string, plan: Config['backups']): number {
  if (text) return integer(name, text, 1, 3650)
  return plan ? Math.max(1, plan.daily, Math.ceil(plan.hourly / 24)) : WINDOW_DAYS_DEFAULT
}

/** The message does not quote the token, which is a secret. */
function metricsToken(name: Variable, text: string): string | undefined {
  if (text && !/^[!-~]{16,256}$/.test(text)) {
    fail(name, 'use 16 to 256 printable ASCII characters without spaces, for example from "openssl rand -hex 32"')
  }
  return text || undefined
}

function mail(url: string, from: string): Config['mail'] {
  if (!url && from) fail('VIDIMUS_MAIL_FROM', 'no mail is sent without a server; set VIDIMUS_SMTP_URL too, or remove it')
  if (!url) return undefined
  if (!from) fail('VIDIMUS_MAIL_FROM', 'VIDIMUS_SMTP_URL is set, so name the sender too: alerts@shop.example')
  return { ...parsed('VIDIMUS_SMTP_URL', url, parseMailUrl), from: parsed('VIDIMUS_MAIL_FROM', from, parseMailFrom) }
}

function base64url(name: Variable, text: string): string {
  if (!/^[\w-]*$/.test(text)) fail(name, 'it is not base64url without padding')
  return text
}

function parsed<T>(name: Variable, text: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (error) {
    return fail(name, (error as Error).message)
  }
}

function hostOf(text: string): string {
  if (/^[\w.-]+$/.test(text)) return text
  const address = text.replace(/^\[(.*)\]$/, '$1')
  return isIPv6(address) ? address : fail('HOST', `"${text}" is not an address or a name; the port is set by PORT`)
}

function publicUrl(text: string, scheme: string, port: number): string {
  if (!text) return port === 0 ? '' : `${scheme}://localhost:${port}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    return fail('VIDIMUS_PUBLIC_URL', `"${text}" is not an http(s) address like https://verify.shop.example`)
  // Checked in the text: a bare "?" or "#" leaves search and hash empty but stays in the address.
  if (/[?#]/.test(text) || url.username || url.password) {
    fail('VIDIMUS_PUBLIC_URL', 'give scheme, host, port and at most a path: no query, fragment, user or password')
  }
  return url.href.replace(/\/+$/, '')
}

function tlsFiles(certFile: string, keyFile: string): Config['tls'] {
  if (!certFile && !keyFile) return undefined
  if (!certFile) fail('VIDIMUS_TLS_CERT', 'VIDIMUS_TLS_KEY is set, so the certificate file must be named too')
  if (!keyFile) fail('VIDIMUS_TLS_KEY', 'VIDIMUS_TLS_CERT is set, so the key file must be named too')
  return { certFile, keyFile }
}

function delays(name: Variable, text: string): number[] {
  const entries = text.split(',')
  if (entries.length > WEBHOOK_ATTEMPTS_MAX)
    fail(name, `more than ${WEBHOOK_ATTEMPTS_MAX} attempts; list at most ${WEBHOOK_ATTEMPTS_MAX} waits`)
  return entries.map(entry => {
    const [, amount, unit] =
      /^\s*(\d{1,6})([smh])\s*$/.exec(entry) ?? fail(name, `"${entry}" is not a wait like 0s, 5s, 10m or 2h`)
    const ms = Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS]
    return ms <= WEBHOOK_DELAY_MAX_MS ? ms : fail(name, `"${entry}" is longer than 72h, the longest wait`)
  })
}
