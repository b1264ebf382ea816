// The tables of the handbook that exist in code, as Markdown. scripts/build/handbook.ts writes them into the pages;
// test/handbook/tables.test.ts fails when a page has a stale copy.
import { join } from 'node:path'
import { DEFAULT_SCOPES, SCOPES, type Scope } from '../../src/access/scopes.ts'
import { ALARMS } from '../../src/alerts/causes.ts'
import { COUNTERS, HISTOGRAMS } from '../../src/base/metrics.ts'
import { COMMANDS } from '../../src/cli/index.ts'
import { REFUSALS } from '../../src/db/refusal.ts'
import { CHECKS, type CheckName } from '../../src/doctor/check.ts'
import { GUESS_POLICIES } from '../../src/guesses/budgets.ts'
import { ERRORS, type ErrorCode, PAGE_ERRORS } from '../../src/http/errors.ts'
import type { OpenApi } from '../../src/http/openapi.ts'
import { POLICIES, type Policy } from '../../src/http/rate-limit.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { formatsOf } from '../../src/templates/forms.ts'
import { PLANS } from '../../src/tenants/settings.ts'
import { VARIABLES } from '../../src/variables.ts'
import type { OutcomeName } from '../../src/web/shared/outcome-code.ts'
import { outcomeNames as german } from '../../src/web/shared/words/de.ts'
import { outcomeNames as english, outcomes } from '../../src/web/shared/words/en.ts'
import { FORMAT_NAMES } from '../../src/words/templates.ts'
import evidence from '../../test/evidence.json' with { type: 'json' }

type Row = { what: string; floor: string; service: string; ratio: string; aim: string }

/** A run of a soak or a benchmark: test/evidence.json. */
type Run = {
  kind: 'soak' | 'bench' | 'other'
  what: string
  command: string
  commit: string
  machine: string
  date: string | null
  minutes?: number
  violations?: number
  figures: string | Row[]
}

const of = (kind: Run['kind']): Run[] => (evidence as Run[]).filter(run => run.kind === kind)

const SRC = join(import.meta.dir, '../../src')

/** `document` is the OpenAPI document. */
export async function makeTables(document: OpenApi): Promise<Record<string, string>> {
  return {
    scopes: table(
      ['scope', 'allows'],
      SCOPES.map(scope => [
        code(scope),
        `${SCOPE_MEANINGS[scope]}${DEFAULT_SCOPES.includes(scope) ? '' : '; not given by default'}`,
      ]),
    ),
    plans: table(
      ['plan', 'verifications a day'],
      Object.entries(PLANS).map(([plan, quota]) => [
        code(plan),
        `${quota.toLocaleString('en')}${plan === 'standard' ? ' (the default)' : ''}`,
      ]),
    ),
    verdicts: table(
      ['code', 'meaning', 'what to do'],
      Object.entries(outcomes)
        .filter(([name]) => name !== 'expired')
        .map(([name, { meaning, remedy }]) => [code(name), meaning, remedy]),
    ),
    'outcome-names': table(
      ['status or code', 'English', 'German'],
      (Object.keys(english) as OutcomeName[]).map(name => [OUTCOME_CODES[name] ?? code(name), english[name], german[name]]),
    ),
    'verdicts-short': table(
      ['code', 'meaning'],
      Object.entries(outcomes)
        .filter(([name]) => name !== 'expired')
        .map(([name, { sentence }]) => [code(name), sentence]),
    ),
    'api-errors': errorTable(codesOf(document)),
    'page-errors': errorTable(Object.keys(PAGE_ERRORS) as ErrorCode[]),
    checks: table(
      ['check', 'looks at'],
      CHECKS.map(name => [code(name), CHECK_MEANINGS[name]]),
    ),
    'exit-codes': table(
      ['code', 'exit code', 'meaning'],
      Object.entries(REFUSALS).map(([name, exit]) => [code(name), String(exit), REFUSAL_MEANINGS[name as keyof typeof REFUSALS]]),
    ),
    variables: table(
      ['variable', 'default', 'meaning'],
      Object.entries(VARIABLES).map(([name, { default: value, meaning }]) => [code(name), value ? code(value) : '', meaning]),
    ),
    commands: await commandTable(),
    metrics: await metricTable(),
    budgets: table(
      ['budget', 'at once', 'then', 'counts', 'nodes'],
      (Object.keys(POLICIES) as Policy[]).map(name => [
        code(name),
        ...pace(POLICIES[name]),
        BUDGET_MEANINGS[name],
        (GUESS_POLICIES as readonly Policy[]).includes(name) ? 'all together' : 'each its own',
      ]),
    ),
    limits: limitTable(document),
    templates: table(
      ['template', 'asks for', 'formats', 'keeps'],
      [...BUILTIN_TEMPLATES.values()].map(({ key, title, query, retention }) => [
        code(key),
        title.en,
        formatsOf(query)
          .map(format => FORMAT_NAMES[format])
          .join(', '),
        RETENTIONS[retention],
      ]),
    ),
    events: await eventTable(),
    alarms: table(
      ['cause', 'meaning'],
      ALARMS.map(cause => [code(cause), ALARM_MEANINGS[cause]]),
    ),
    soaks: table(
      ['script', 'commit', 'minutes', 'what was done', 'violations'],
      of('soak').map(({ what, commit, minutes, figures, violations }) => [
        code(what),
        commit,
        String(minutes),
        String(figures),
        violations === 0 ? 'none' : String(violations),
      ]),
    ),
    bench: table(
      ['what', 'floor', 'service', 'ratio', 'aim'],
      of('bench').flatMap(({ figures }) =>
        (figures as Row[]).map(({ what, floor, service, ratio, aim }) => [what, floor, service, ratio, aim]),
      ),
    ),
    'other-runs': table(
      ['run', 'figures'],
      of('other').map(({ what, figures }) => [what, String(figures)]),
    ),
    runs: table(
      ['run', 'command', 'commit', 'machine', 'date'],
      (evidence as Run[]).map(({ what, command, commit, machine, date }) => [
        what,
        code(command),
        commit,
        machine,
        date ?? 'not recorded',
      ]),
    ),
  }
}

const code = (text: string): string => `\`${text}\``

/** A bar inside a cell would end it. */
function table(headings: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`.replaceAll('|  |', '| |')
  return [line(headings), `|${headings.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')
}

/** Names that are not a status or a code of the API. */
const OUTCOME_CODES: Partial<Record<OutcomeName, string>> = {
  shared: '`completed`, without a rule that judges it',
  failed: '`failed`, by a check',
}

const SCOPE_MEANINGS: Record<Scope, string> = {
  'verifications:create':
    'create and cancel verifications, list templates, hand in answers of the browser flow and of phones in person',
  'verifications:read': 'read, list and redeem verifications, read usage',
  'verifications:delete': 'erase verifications',
  'devices:manage': 'register, list and revoke devices',
}

const RETENTIONS = {
  outcome: 'only that the age is reached',
  claims: 'the claims',
  claims_without_portrait: 'the claims; the portrait is shown for 15 minutes, at a till until the comparison',
}

const errorTable = (codes: readonly ErrorCode[]): string =>
  table(
    ['code', 'status', 'message'],
    codes.map(name => [code(name), String(ERRORS[name][0]), ERRORS[name][1].replaceAll(/<([A-Z_]+)>/g, '$1')]),
  )

/** Codes that the routes of the API can return; the others are of the pages. */
function codesOf(document: OpenApi): ErrorCode[] {
  const text = JSON.stringify(document)
  const listed = (Object.keys(ERRORS) as ErrorCode[]).filter(name => text.includes(`"${name}":{"value"`))
  return [...listed, ...(['not_found', 'method_not_allowed'] as const).filter(name => !listed.includes(name))]
}

const ALARM_MEANINGS: Record<(typeof ALARMS)[number], string> = {
  tls_ended: 'the certificate of the public address has ended',
  tls_ending: 'the certificate of the public address ends within two weeks',
  signing_ended: 'the certificate that wallets see has ended',
  signing_ending: 'the certificate that wallets see ends soon',
  registrations_ended: 'a registration certificate has ended',
  registrations_ending: 'a registration certificate ends soon',
  no_issuer: 'there are live keys, and no trusted issuer',
  issuers_missing: 'a template in use in live has no trusted issuer',
  issuers_ending: 'an issuer that was added by hand ends within a month',
  lists_troubled: 'a trust list has ended, is stale or empty, fails for a day, or has a new signer',
  status_lists_ended: 'a list of revoked documents has ended',
  status_lists_old: 'a list of revoked documents is nearly too old to be used',
  webhooks_failing: 'webhooks of the last 24 hours failed at a receiver',
  extra_ca_ending: 'an authority of `VIDIMUS_EXTRA_CA` ends within a month',
  wrapping_key_missing: 'the file of a wrapping key is gone',
  wrapping_key_closed: 'the service may not read the file of a wrapping key',
  wrapping_key_old: 'wrapping keys do not turn',
  disk_low: 'little room on the disk',
  disk_full: 'the disk is full, and nothing new is created',
  server_full: 'the disk of the PostgreSQL server is full',
  backup_failed: 'the last scheduled backup failed',
  backup_old: 'the newest backup is old',
  archive_failing: 'the archive of the PostgreSQL server fails',
  archive_old: 'the archive of the PostgreSQL server is an hour old',
}

const CHECK_MEANINGS: Record<CheckName, string> = {
  server: 'whether a service runs on the data directory',
  public_url:
    'whether `VIDIMUS_PUBLIC_URL` is in the DNS, leads to an address that phones reach, is https, and leads to this installation and no other',
  tls: 'whether its certificate is for the name, trusted, and valid for two more weeks',
  client_id: 'whether the name that wallets are given is in the signing certificate',
  signing_certificate:
    'how long the certificate that wallets see is valid, whether it was only made here, and what EU wallets may miss in it',
  registration:
    'whether the registration certificates that requests carry are yours, current, not revoked, and cover what your templates ask for',
  dc_api:
    'whether browsers offer their wallet call at the public address, by which protocols wallets are asked, and how many live origins are listed',
  in_person:
    'whether tills can read phones at the public address, what failed between them within a week, and who phones say is asking',
  openid_provider:
    'log-ins by OpenID Connect: whether programs reach the issuer over https, whether its keys turn, and which programs were refused within a day',
  trust_anchors: 'whether, for live keys, an issuer is trusted for each template in use',
  trust_lists: 'whether a trust list has ended, is out of date, fails, ends soon, or is signed by somebody who is not pinned',
  status_lists:
    'whether the hosts of the status and revocation lists in use can be reached (dashboard only: the service keeps them in memory)',
  webhooks: 'whether the latest receivers, and the endpoints that are set, can be connected to, and what failed within 24 hours',
  extra_ca: 'the authorities of `VIDIMUS_EXTRA_CA`, and whether one ends within a month',
  clock: 'the newest record, the last time that the service showed, the clock at the public address, and steps of the last week',
  database:
    'every page of it, and whether what is sealed of the verifications opens, for at most four seconds each; it names those that do not. On PostgreSQL also the rights of the user, and whether the disk of the server is full',
  master_key: 'whether it is there, for its owner only',
  wrapping_keys: 'whether they are there and turn daily, and what that means for erased verifications',
  disk: 'room, and what is held back for erasing',
  backups: 'the age of the newest, and whether the last one failed',
  open_files: 'whether 16,384 files and connections may be open; the start warns too',
  second_factor: 'whether every owner has a second factor, once there are live keys',
  mail: 'whether mail is set up and reaches an owner, and whether the latest was sent; it sends none',
}

const REFUSAL_MEANINGS: Record<keyof typeof REFUSALS, string> = {
  sqlite_too_old: 'SQLite of the program is too old; use the released program',
  directory_in_use: 'another process works on this data directory; stop it',
  database_damaged: 'the database is damaged, missing beside its backups, or not ours; the message names the newest backup',
  key_missing: 'the master key or a wrapping key is missing; put your copy into the key directory',
  key_readable_by_others: 'a key file can be read by others; `chmod 600` it',
  key_wrong: 'the key belongs to another database',
  schema_newer: 'the database was written by a newer version; run that version, or restore a backup',
  clock_behind: 'the clock is far behind the newest record; set it',
  directory_unusable: 'the data directory cannot be read or written',
  network_file_system:
    'the data directory is on a network file system, which does not keep SQLite safe; use a local disk or PostgreSQL',
  database_unreachable: 'PostgreSQL does not answer; the service waits a minute, a command five seconds',
  database_refused: 'PostgreSQL refuses the connection: user, password, database or certificate',
  clock_apart: 'the clock is more than a minute from that of the database; set it',
  postgres_too_old: 'PostgreSQL is older than 14',
  encoding_wrong: 'the encoding of the database is not UTF-8',
  not_durable: '`fsync` or `full_page_writes` is off in PostgreSQL',
  database_read_only: 'the database takes no writes; it may be a standby',
  rights_missing: 'the database user lacks rights; run `vidimus upgrade` with the owner',
  schema_older: 'the schema is older, and this user may not change it; run `vidimus upgrade`',
  database_moved: 'this file was moved to PostgreSQL; set `VIDIMUS_DATABASE_URL`',
  before_first_release: 'the database was made before 0.1.0; keep the old program for it, or start with a new data directory',
}

const BUDGET_MEANINGS: Record<Policy, string> = {
  'key-live': 'requests per live key',
  'key-test': 'requests per test key',
  'create-live': 'creations per live key',
  'create-test': 'creations per test key',
  tenant: 'requests per tenant',
  device: 'requests per device',
  ip: 'requests without a key, per address',
  page: 'pages, assets, documents and unknown paths, per address',
  probe: '`/readyz` and `/metrics`, per address',
  badauth: '401 responses, per address',
  status: 'polls, per session and address',
  'wallet-get': 'requests fetched, per session and address',
  'wallet-post': 'answers, per session and address; in person, per session and device',
  'in-person': 'new codes of phones, per session',
  redeem: 'wrong response codes, per session',
  refresh: 'token refreshes, per address',
  'refresh-device': 'token refreshes, per device',
  enroll: 'wrong pairing codes, per address',
  'enroll-all': 'wrong pairing codes, from all other addresses',
  'enroll-known': 'wrong pairing codes, per known address',
  'enroll-known-all': 'wrong pairing codes, from all known addresses',
  login: 'wrong passwords, per address',
  'login-known': 'wrong passwords, per known browser, session, and user with a session',
  'login-all': 'wrong passwords, in all',
  dashboard: 'requests of a user',
  'dashboard-change': 'changes of a user',
  'oidc-authorize': 'log-ins begun, per address',
  'oidc-token': 'token requests, per OpenID client',
  'oidc-userinfo': 'reads of claims, per access token',
  'webhook-test': 'test events, per tenant',
}

function pace({ perSecond, burst, total }: { perSecond: number; burst: number; total?: number }): [string, string] {
  const [count, unit] =
    perSecond >= 1 ? [perSecond, 'second'] : perSecond * 60 >= 1 ? [perSecond * 60, 'minute'] : [perSecond * 3600, 'hour']
  const article = unit === 'hour' ? 'an' : 'a'
  return [String(burst), `${Math.round(count * 10) / 10} ${article} ${unit}${total ? `, ${total} in all` : ''}`]
}

async function commandTable(): Promise<string> {
  const rows = [...COMMANDS].map(async ([name, load]) => {
    const { summary, subcommands } = (await load()).command
    const words = [...new Set(subcommands.map(({ word }) => word))].filter(Boolean)
    return [code(words.length ? `${name} ${words.join('|')}` : name), summary]
  })
  return table(['command', 'does'], await Promise.all(rows))
}

type Named = Record<string, unknown>

/** Bounds that a JSON Schema states, in words. */
function boundsOf(schema: Named): string {
  const {
    minLength,
    maxLength,
    minimum,
    maximum,
    minItems,
    maxItems,
    maxProperties,
    default: value,
  } = schema as Record<string, number>
  const range = (low: number | undefined, high: number | undefined, unit: string) => {
    if (low === undefined && high === undefined) return []
    const [only, word] = low === undefined ? [high, 'at most'] : [low, 'at least']
    return [`${low === undefined || high === undefined ? `${word} ${only}` : `${low} to ${high}`}${unit}`]
  }
  return [
    // At least one character is no limit.
    ...range(maxLength === undefined && minLength === 1 ? undefined : minLength, maxLength, ' characters'),
    ...range(minimum, maximum, ''),
    ...range(minItems, maxItems, ' items'),
    ...(maxProperties === undefined ? [] : [`at most ${maxProperties} names`]),
    ...(value === undefined ? [] : [`${value} by default`]),
  ].join(', ')
}

/** Limits of the bodies and queries that merchants and devices send. */
function limitTable(document: OpenApi): string {
  const bodies = ['CreateVerification', 'RedeemResponseCode', 'RegisterDevice', 'EnrollDevice', 'RefreshDevice']
  const fields = bodies.flatMap(name =>
    Object.entries((document.components.schemas[name]?.properties ?? {}) as Record<string, Named>),
  )
  const list = document.paths['/v1/verifications']?.get?.parameters as { name: string; schema: Named }[]
  const rows = [...fields, ...list.map(({ name, schema }): [string, Named] => [name, schema])].flatMap(([name, schema]) => {
    const bounds = boundsOf(schema)
    return bounds ? [[code(name), bounds]] : []
  })
  return table(['field', 'limit'], [...new Map(rows.map(row => [row[0], row])).values()])
}

/** Checked against real figures by test/operating.test.ts. */
const LABELS: Record<string, string[]> = {
  vidimus_alerts_raised: ['cause'],
  vidimus_mails_total: ['outcome'],
  vidimus_http_requests_total: ['method', 'route', 'status'],
  vidimus_http_request_seconds: ['route'],
  vidimus_http_refusals_total: ['code'],
  vidimus_rate_limited_total: ['policy'],
  vidimus_verifications_total: ['event', 'environment'],
  vidimus_verification_failures_total: ['code', 'environment'],
  vidimus_dc_requests_total: ['protocol'],
  vidimus_dc_answers_total: ['protocol', 'outcome'],
  vidimus_oidc_logins_total: ['environment', 'outcome'],
  vidimus_oidc_refusals_total: ['endpoint', 'error'],
  vidimus_in_person_requests_total: ['version'],
  vidimus_in_person_answers_total: ['outcome'],
  vidimus_in_person_failures_total: ['code'],
  vidimus_status_list_fetches_total: ['outcome'],
  vidimus_trust_list_refreshes_total: ['outcome'],
  vidimus_crl_fetches_total: ['outcome'],
  vidimus_webhook_attempts_total: ['outcome'],
  vidimus_webhook_deliveries_total: ['status'],
  vidimus_db_retries_total: ['code'],
  vidimus_backups_total: ['outcome'],
  vidimus_build_info: ['version', 'bun'],
}

async function metricTable(): Promise<string> {
  const all = [
    ...Object.entries(COUNTERS).map(([name, help]) => [name, 'counter', help]),
    ...Object.entries(HISTOGRAMS).map(([name, { help }]) => [name, 'histogram', help]),
    ...(await gauges()),
  ]
  const rows = all.map(([name = '', kind = '', help = '']) => [code(name), kind, (LABELS[name] ?? []).map(code).join(', '), help])
  return table(['metric', 'kind', 'labels', 'what it is'], rows)
}

async function gauges(): Promise<string[][]> {
  const files = (await Array.fromAsync(new Bun.Glob('**/*.ts').scan(SRC))).toSorted()
  const found = await Promise.all(
    files.map(async file => {
      const text = await Bun.file(join(SRC, file)).text()
      return [...text.matchAll(/\.gauge\(\s*'(\w+)',\s*(['"`])([\s\S]+?)\2,/g)].map(([, name = '', , help = '']) => [
        name,
        name.endsWith('_total') ? 'counter' : 'gauge',
        file.startsWith('db/postgres/') ? `${help.replace(/\.$/, '')}; only on PostgreSQL.` : help,
      ])
    }),
  )
  return found.flat()
}

/** Events of the levels that ask for a person. */
async function eventTable(): Promise<string> {
  const found = new Map<string, string>()
  for await (const file of new Bun.Glob('**/*.ts').scan(SRC)) {
    const text = await Bun.file(join(SRC, file)).text()
    for (const [, level = '', event = ''] of text.matchAll(/log\.(warn|error)\(\s*'([\w.]+)'/g))
      if (found.get(event) !== 'error') found.set(event, level)
  }
  const rows = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([event, level]) => [code(event), level, meaningOf(event)])
  return table(['event', 'level', 'meaning and what to do'], rows)
}

function meaningOf(event: string): string {
  const meaning = EVENT_MEANINGS[event]
  if (!meaning) throw new Error(`the log event ${event} has no meaning in scripts/build/tables.ts`)
  return meaning
}

const EVENT_MEANINGS: Record<string, string> = {
  'alert.raised':
    'something needs an owner; `detail` is one of the [causes](alerts.md#causes). `alert.cleared` (`info`) says when it is over',
  'audit.not_linked':
    'audit records could not be put on the chain; the service retries. Look at the database if it happens again',
  'audit.not_signed': 'the head of the audit chain could not be signed; the service retries within the hour',
  'audit.not_verified':
    'the audit chain does not verify. Run `vidimus audit verify`, keep a copy of the database, and ask who changed it',
  'backup.failed': 'a scheduled backup failed; old ones stay. Check room and rights of `backups/`',
  'clock.stepped': 'the clock was set by more than ten minutes. Check NTP',
  'database.awaited':
    'PostgreSQL does not answer; the start waits for it, for a minute at most. Start it, or mend `VIDIMUS_DATABASE_URL`',
  'database.file_gone':
    'a file of the database was moved, replaced or removed while the service runs, so nothing is written. Bring the same file back; no restart is needed',
  'database.foreign_row': 'the database returned a row that was not asked for; the request got 500. Check the pooler',
  'database.keys_replaced': '`rekey` ran while this node was stalled; the node writes nothing more. Restart it',
  'database.taken_over':
    'a standby is now the server. If it lagged, the newest acknowledged writes are lost: run `vidimus audit verify` with a checkpoint you keep',
  'device.not_recorded': 'the time a device was last seen could not be stored; harmless once',
  'device.token_reused':
    'a refresh token was used twice, so the device was revoked. Pair it again, and ask who else had the token',
  'disk.full': 'the disk is full: creations are refused, erasing still works. Make room; no restart is needed',
  'disk.low': 'less than 256 MiB are free. Make room',
  'disk.nothing_held_back': 'no room could be held back for erasing. Make room',
  'erasure.log_not_emptied':
    'an erased text may still be in the write-ahead log; the service retries. As `error`: look for a reader that blocks it',
  'files.limit_low': 'fewer than 16,384 files may be open. Raise `LimitNOFILE` or `ulimit -n`',
  'heartbeat.not_recorded': 'the time of the last heartbeat could not be stored; look at the database if it happens again',
  'job.failed': 'a periodic job failed; it runs again. `failure` names the place',
  'key.use_not_recorded': 'the hour of the last use of an API key could not be stored; harmless once',
  'keys.lost': 'a wrapping key file is gone. Restore it from your mirror of the key directory',
  'keys.not_shared': 'a node cannot read the new wrapping key, so keys do not turn. Share `VIDIMUS_KEY_DIR`',
  'keys.not_turned': 'wrapping keys did not turn; erased verifications stay readable in old copies. Run `vidimus doctor`',
  'login.failed': 'a log-in to the dashboard was refused; `detail` says why. Many from one network are guesses',
  'mail.failed': 'a mail was not sent; `failure` says why, and what is owed is sent again by itself. Check `VIDIMUS_SMTP_URL`',
  'network.not_recorded': 'the network of a client could not be stored; harmless once',
  'request.failed': 'a request ended with 500. `failure` names the place; report it with the request id',
  'runtime.warned':
    'a warning of the runtime itself, in its own words; after a lost connection to PostgreSQL the service reconnects',
  'service.plain_http': 'the service listens beyond this machine over plain http. Put TLS in front',
  'setup.no_link': 'the set-up link could not be made. `vidimus user invite --name NAME` prints one',
  'signing.certificate_expires': 'the certificate that wallets see ends soon. Renew it: `vidimus signing csr`',
  'tls.certificate_expired': 'the https certificate has expired and is still served. Renew it',
  'tls.certificate_not_yet_valid':
    'the https certificate is served although it is not valid yet. Serve the one before it, or set the clock right',
  'tls.not_reloaded': 'the new https certificate cannot be used; the old one stays. The line says why',
  'tls.nothing_to_reload': 'SIGHUP arrived, but the service has no certificate of its own',
  'tls.port_lost': 'the port could not be opened again after a renewal. Restart the service',
  'trust.entries_halved': 'a trust list lost more than half of its issuers with an update. Ask its operator',
  'trust.list_ended': 'a trust list has ended: its issuers are no longer trusted. Refresh it or bring a bundle',
  'trust.list_refused':
    'an update of a trust list was refused; the last one still counts. `vidimus trust source show ID` says why',
  'signing.registration_large':
    'copies of the registration certificate exceed 48 KiB, so only the first document request has one; `detail` names the template. Ask for fewer documents at once',
  'status.list_not_kept': 'a list of revoked documents could not be stored; a restart without internet does not know it',
  'status.stale_used': 'documents are checked against an older list of their issuer, because no newer one can be fetched',
  'trust.list_stale': 'a trust list is past its next update; results have a warning until its grace ends',
  'trust.number_went_back': 'a trust list has a lower number than the one before. Ask its operator',
  'verification.unreadable':
    'a sealed value does not open any more. `vidimus doctor` names the verification: erase it, or restore a backup',
  'webhooks.attempt_failed': 'an attempt failed inside the service, not at the receiver; it is repeated. Report it',
  'webhooks.record_failed': 'the outcome of an attempt could not be stored; the message may be sent again',
  'webhooks.recovered': 'the thread that sends webhooks was started again',
  'webhooks.round_failed':
    'due webhooks could not be read; the service retries, and logs nothing more until it succeeds. Look at the database',
  'webhooks.thread_lost': 'the thread that sends webhooks ended; it is started again',
}
