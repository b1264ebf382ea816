import type { Missed, Reason } from '../../../doctor/reach.ts'
import type { RegistrationName } from '../../../doctor/registration-check.ts'
import type { Flaw } from '../../../doctor/signing-checks.ts'
import type { MailFailure } from '../../../egress/mail.ts'
import type { TransportFailure } from '../../../verifications/exchange/in-person/schema.ts'
import { type FindingWords, say, sayTroubles, someOf } from './say.ts'

const some = (names: readonly string[]) => someOf(names, count => `and ${count} more`)
const ofTenant = (owner: string | null) => (owner === null ? '' : ` of tenant ${owner}`)
const hoursOrDays = (hours: number) => (hours >= 48 ? `${Math.floor(hours / 24)} days` : `${hours} hours`)
const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

/** Of a certificate that wallets see. */
export const flaws: Record<Flaw, string> = {
  no_identifier: 'no organisation identifier in the subject',
  no_contact: 'no contact in the alternative names',
  no_policy: 'no policy 0.4.0.194118.1.x',
  no_signatures: 'a key usage that does not allow signatures',
  is_authority: 'an authority in place of a holder',
  no_name: 'no name of an organisation or person in the subject',
  no_revocation: 'no address of a revocation list',
  listed_inside: 'a listed authority inside the chain',
  no_path: 'no path to an access authority on the loaded list',
}

const unreachable: Record<Reason, string> = {
  unknown: 'its name was not found',
  refused: 'its address is not allowed',
  silent: 'it does not answer',
  untrusted: 'its certificate is not valid',
  closed: 'it refuses the connection',
}

/** Why a mail was not sent. */
export const mailFailures: Record<MailFailure, string> = {
  name_unknown: 'the name of the mail server was not found',
  unreachable: 'the mail server does not answer at this port',
  broken_off: 'the mail server broke the connection off',
  too_slow: 'the mail server took too long',
  tls_failed: 'its certificate is not valid, or it does not speak TLS at this port',
  unencrypted: 'it offers no encryption, so the password was not sent',
  log_in_refused: 'it refused user or password',
  receiver_refused: 'it refused the address of the receiver',
  refused: 'it refused the mail',
  cancelled: 'the service was stopped',
}

/** By the code of the latest failure. */
const inPersonRemedies: Record<TransportFailure['code'], string> = {
  no_bluetooth: 'Switch Bluetooth on, on the tablet, and let the browser use it.',
  not_chosen: 'Tap the one phone in the list of the browser; Bluetooth must be on, on the phone too.',
  not_connected: 'Hold phone and tablet close, and ask for a new code.',
  wrong_service: 'These phones do not offer what their codes promise: use another way for them.',
  write_failed: 'Update the browser, and hold phone and tablet close.',
  bad_chunk: 'These phones send what cannot be read: use another way for them.',
  too_large: 'These phones send more than is allowed: use another way for them.',
  lost: 'Hold the phone close until the tablet shows the result.',
  timed_out: 'Hold the phone close until the tablet shows the result.',
}

const missedOf = (missed: readonly Missed[]) => some(missed.map(({ origin, why }) => `${origin} (${unreachable[why]})`))
const certificatesOf = (certificates: readonly RegistrationName[]) =>
  some(certificates.map(({ name, end }) => `${name} (${end === null ? 'without end' : `until ${end}`})`))

const roomNeeded = 'Make room on the disk of the data directory.'
const untilKeyTurns = 'What is erased can be read from old copies, with the keys, until it turns.'
const synchroniseClock = 'Let the machine synchronise its clock, for example with "timedatectl set-ntp true".'
const renewTls = 'Renew it; on SIGHUP the service loads its own certificate again.'
const renewSigning = 'Renew it with "vidimus signing csr" and "vidimus signing import".'
const renewRegistration = 'Get a current one from the registrar and add it with "vidimus registration add"; remove the old one.'
const setEndpoint = 'Set an endpoint under Webhooks, if your software should get results.'
const addFactor = 'Let them add a passkey or one-time codes in the dashboard under Settings, You.'
const addIssuer = ({ list, one }: { list: string | null; one: string }) =>
  list === null ? `Add one: ${one}` : `Add its list: ${list}; or one issuer: ${one}`
const fetchList = (id: string) => {
  const refresh = `vidimus trust source refresh ${id}`
  return `Look at it with "${refresh}", or bring it: ${refresh} --file LIST`
}
const bringList = (id: string) => `Let this machine reach it, or bring it: vidimus trust source refresh ${id} --file LIST`
const someAt = (lists: readonly { host: string; at: string }[]) => some(lists.map(({ host, at }) => `${host} (${at})`))
const refreshStatus =
  'Let this machine reach them ("vidimus trust status refresh"), or bring a bundle: vidimus trust bundle export FILE --status'
const showList = (id: string) => `See "vidimus trust source show ${id}".`
const archived = (at: string) => `The server archived its log last at ${at}. Base backups are not seen from here.`
const mayOpen = ({ isServer }: { isServer: boolean }) => `${isServer ? 'The service' : 'A process started from here'} may open`

/** What `vidimus doctor` and Health say of each finding, and what to do. */
export const findings: FindingWords = {
  right_lacking: [
    'The user of VIDIMUS_DATABASE_URL lacks a right that this check needs.',
    'Run "vidimus upgrade" with VIDIMUS_DATABASE_OWNER_URL, which grants it.',
  ],
  check_slow: ({ seconds }) => [`The check took longer than ${seconds} seconds.`, 'Try again when the machine is less busy.'],
  check_failed: ({ failure }) => [`The check itself failed (${failure}).`, 'Try again; if it happens again, report this line.'],
  running: 'The service is running.',
  running_on: ({ dir }) => `A service is running on ${dir}.`,
  not_running: ({ dir }) => [`No service is running on ${dir}.`, 'Start it: vidimus serve'],
  no_node: ['No service is running on this database.', 'Start it: vidimus serve'],
  nodes_running: ({ nodes }) => `${counted(nodes.length, 'node is', 'nodes are')} running: ${some(nodes)}.`,
  nodes_differ: ({ nodes }) => [
    `${counted(nodes.length, 'node is', 'nodes are')} running: ${some(nodes)}.`,
    'They are of several versions: restart the older ones with the new program.',
  ],
  file_damaged: ['The database is damaged.', 'Stop the service, and replace the database with "vidimus restore".'],
  file_too_large: [
    'The database is too large to read every page within this check.',
    'Run "vidimus backup FILE": it checks every page of the copy.',
  ],
  file_sound: ({ size }) => `The database is undamaged (${size}).`,
  commit_not_synchronous: [
    'synchronous_commit is off: a crash of the server loses what was acknowledged.',
    'Switch it on for the user and the database of the service.',
  ],
  statements_unlimited: [
    'Through a pooler the service cannot limit its statements, and the server does not do it.',
    "Run: ALTER ROLE … SET statement_timeout = '5s'; the same for lock_timeout = '2s' and idle_in_transaction_session_timeout = '5s'.",
  ],
  rights_lacking: ({ tables }) => [
    `The user of VIDIMUS_DATABASE_URL lacks rights to ${some(tables)}: requests fail.`,
    'Run "vidimus upgrade" with VIDIMUS_DATABASE_OWNER_URL, which grants them.',
  ],
  server_full: ['The disk of the database server is full, or nearly: creations fail.', 'Make room there.'],
  no_standby: 'No standby is seen from here.',
  standbys_synchronous: ({ synchronous, count }) => `${synchronous} of ${count} standbys are synchronous.`,
  standbys_unseen: ({ count }) => `${count} standbys; to see more, grant pg_monitor to the user of the service.`,
  standbys_behind: ({ behind }) => [
    `No standby is synchronous: a failover can lose what was acknowledged. The nearest is ${behind} behind.`,
    'Name one in synchronous_standby_names, if that must not be.',
  ],
  rows_pile_up: ({ tables }) => [
    `Deleted rows pile up in ${tables.join(', ')}.`,
    'See that autovacuum runs, and end transactions that are open for hours.',
  ],
  no_checksums: [
    'The server has no data checksums: damage on its disk stays unnoticed.',
    'Stop it and run: pg_checksums --enable',
  ],
  upgrade_unfinished: ({ migrations }) => [
    `The last upgrade is not finished (${migrations.join(', ')}).`,
    'When no node of the earlier version runs any more: vidimus upgrade --finish',
  ],
  postgres_answers: ({ version, standbys }) => `PostgreSQL ${version} answers. ${say(findings, standbys).detail}`,
  key_missing: ({ file }) => [`${file} is missing: the next start will fail.`, 'Put it back from your safe copy.'],
  key_readable: ({ file, remedy }) => [`${file} can be read by others: the next start will fail.`, `Run: ${remedy}`],
  key_private: ({ isGiven }) =>
    `Only its owner${isGiven ? ' or group' : ''} can read the master key. Keep a copy of it elsewhere.`,
  disk_full: ({ free }) => [`The disk is nearly full: ${free} free, and no reserve for erasing is left.`, roomNeeded],
  disk_low: ({ free }) => [`The disk is nearly full: ${free} free.`, roomNeeded],
  disk_roomy: ({ free, reserve, isHeld }) =>
    `${free} free; ${isHeld ? `${reserve} are held back for erasing` : `a running service holds back ${reserve} for erasing`}.`,
  backups_off: ['The service makes no backups.', 'Set VIDIMUS_BACKUPS, or make sure that something else makes them.'],
  backup_failed: ({ at, failure }) => [`The last backup failed at ${at} (${failure}).`, 'See backup.failed in the log.'],
  no_backup: ['There is no backup yet.', 'A running service makes the first one within minutes.'],
  backup_old: ({ hours }) => [
    `The newest backup is ${hoursOrDays(hours)} old.`,
    'Start the service; see backup.failed in the log.',
  ],
  backup_good: ({ at }) => `The newest backup is from ${at} and was checked. Keep one on another machine too.`,
  archive_off: [
    'The server archives no log, and backups made otherwise are not seen from here.',
    'See that they are made, and try to restore one.',
  ],
  archive_failing: ({ since }) => [
    `The server cannot archive its log since ${since}.`,
    'Read the log of the server: archive_command fails.',
  ],
  archive_empty: ['The server has archived nothing yet.', 'See that base backups are made, and try to restore one.'],
  archive_old: ({ at }) => [`The server archived its log last at ${at}.`, 'Set archive_timeout, so that little can be lost.'],
  archive_good_directory_passing: ({ at, dir }) => [
    `${archived(at)} But ${dir} does not outlive this container, and with it the log of erasures, which a restore needs.`,
    'Put VIDIMUS_DATA_DIR on a volume.',
  ],
  archive_good: ({ at }) => archived(at),
  sessions_locked: ({ file, unreadable }) => [
    `Without ${file} these verifications cannot be decrypted: ${some(unreadable)}.`,
    'Put it back from your safe copy of the key directory, and erase none of them.',
  ],
  sessions_unreadable: ({ unreadable }) => [
    `These verifications cannot be decrypted any more, and lists that contain them fail: ${some(unreadable)}.`,
    'Erase them; or stop the service, and restore a backup.',
  ],
  sessions_readable: ({ engine, looked }) =>
    `${say(findings, engine).detail} ${looked === null ? 'Every verification' : `Within the time of this check, each of ${looked} verifications`} can be read.`,
  wrapping_key_closed: ({ file }) => [
    `This user may not read ${file}: verifications cannot be read, and the next start will fail.`,
    'Let the user of the service read it.',
  ],
  wrapping_key_missing: ({ file }) => [
    `${file} is missing or wrong: verifications cannot be read, and the next start will fail.`,
    'Put it back from your safe copy of the key directory.',
  ],
  wrapping_key_readable: ({ file }) => [`${file} can be read by others: the next start will fail.`, `Run: chmod 600 ${file}`],
  no_wrapping_key: ['There is no wrapping key yet.', 'Start the service once: the first start creates it.'],
  sealing_again: ({ count, total }) => [
    `${count} of ${total} verifications are sealed under the newest keys; for the others old keys still count.`,
    'Let the service run: it continues by itself.',
  ],
  wrapping_key_unshared: ({ keyDir }) => [
    `The wrapping key does not turn, because not every node can read ${keyDir}. ${untilKeyTurns}`,
    'Let all nodes share this directory, on any network volume.',
  ],
  wrapping_key_old: ({ days, keyDir }) => [
    `The wrapping key has not turned for ${days} days. ${untilKeyTurns}`,
    `Let the service write to ${keyDir}; see keys.not_turned in the log.`,
  ],
  wrapping_key_good: ({ since, days }) =>
    `The wrapping key is in use since ${since}. What is erased cannot be read from any copy after ${days} days.`,
  clock_behind: ({ at, shown }) => [`The clock says ${at}, but here it was ${shown} already.`, synchroniseClock],
  clock_apart: ({ seconds }) => [`The clock differs by ${seconds} seconds from the one at the public address.`, synchroniseClock],
  clock_set: ({ at }) => [`The clock was set, or the machine slept, about ${at}.`, synchroniseClock],
  clock_good: ({ at }) => `The clock says ${at}.`,
  files_unknown: 'This system does not say how many files a process may open.',
  files_enough: ({ limit, ...who }) => `${mayOpen(who)} ${limit} files and connections.`,
  files_few: ({ limit, needed, ...who }) => [
    `${mayOpen(who)} only ${limit} files and connections: with many phones at once, some will be refused.`,
    `Allow ${needed}: "ulimit -n ${needed}", or LimitNOFILE=${needed} for systemd.`,
  ],
  no_mail: ['No mail is sent: owners learn what is wrong here only.', 'Set VIDIMUS_SMTP_URL and VIDIMUS_MAIL_FROM.'],
  mail_failing: ({ at, failure }) => [
    `The latest mail, at ${at}, was not sent: ${mailFailures[failure]}.`,
    'Check VIDIMUS_SMTP_URL, then press “Send a test” under Settings, You. What is owed is sent again by itself.',
  ],
  mail_for_nobody: [
    'Mail is set up, but no owner has a confirmed address.',
    'Each owner who wants mail enters an address under Settings, You.',
  ],
  mail_sent: ({ at, receivers }) => `${counted(receivers, 'owner gets', 'owners get')} mail; the latest was sent at ${at}.`,
  mail_untried: ({ receivers }) => `${counted(receivers, 'owner gets', 'owners get')} mail; none was sent yet.`,
  second_factors_set: 'Every owner has a second factor, or there is none yet.',
  second_factors_unset: ({ owners }) => [`Owners without a second factor: ${owners}. No shop has a live key yet.`, addFactor],
  second_factors_missing: ({ owners }) => [
    `Owners without a second factor: ${owners}. Their password alone opens every live shop.`,
    addFactor,
  ],
  address_unknown: ['The public address is unknown, because the system chooses the port.', 'Set VIDIMUS_PUBLIC_URL.'],
  address_local: ({ publicUrl }) => [
    `${publicUrl} is an address of this machine: enough to try things, but a phone cannot reach it.`,
    'Give the service a public name, and set VIDIMUS_PUBLIC_URL to it.',
  ],
  name_unknown: ({ host }) => [`${host} was not found in the DNS.`, 'Publish the name, or correct VIDIMUS_PUBLIC_URL.'],
  address_plain: ({ publicUrl }) => [
    `${publicUrl} is plain http: most wallets refuse it.`,
    'Put a TLS proxy in front, or set VIDIMUS_TLS_CERT.',
  ],
  address_private: ({ host }) => [
    `${host} resolves to a private address: phones reach it only inside that network.`,
    'If customers are elsewhere, give the name a public address.',
  ],
  address_reached: ({ publicUrl }) => `${publicUrl} reaches this service, as seen from this machine.`,
  address_silent: ({ publicUrl }) => [
    `Nothing answers at ${publicUrl}.`,
    'Start the service, and route this address to it in proxy, router and firewall.',
  ],
  address_of_another: ({ publicUrl }) => [
    `Something else answers at ${publicUrl}, not this installation.`,
    'Correct the proxy, or VIDIMUS_PUBLIC_URL.',
  ],
  address_answers_otherwise: ({ publicUrl, status }) => [
    `${publicUrl}/healthz answers ${status} instead of this installation.`,
    'Let the proxy forward every path below VIDIMUS_PUBLIC_URL, with its headers.',
  ],
  tls_unused: ['The public address is not https, so there is no certificate to check.', 'See the public address.'],
  tls_unseen: ({ host }) => [`There is no certificate to check: ${host} does not answer.`, 'See the public address.'],
  tls_unusable: ({ message }) => [
    `${message}.`,
    'Put the certificate and its key there: the next start of the service fails without them.',
  ],
  tls_ended: ({ host }) => [`The certificate of ${host} has expired.`, renewTls],
  tls_too_early: ({ host, begin }) => [
    `The certificate of ${host} is not valid before ${begin}.`,
    'Serve the one before it until then; if the time is wrong here, set the clock right.',
  ],
  tls_other_name: ({ host }) => [`The certificate is not for ${host}.`, 'Get one for this name, or correct VIDIMUS_PUBLIC_URL.'],
  tls_local: ({ host }) => [
    `The certificate of ${host} is from the local authority: tills that have it installed trust it, phones do not.`,
    'For wallets, use a certificate from a public authority.',
  ],
  tls_untrusted: ({ host }) => [
    `The certificate of ${host} leads to no authority that this machine trusts.`,
    'Use one from a public authority, and serve its whole chain.',
  ],
  tls_ending: ({ host, daysLeft }) => [`The certificate of ${host} expires in ${daysLeft} days.`, renewTls],
  tls_good: ({ host, daysLeft }) => `The certificate of ${host} is trusted and valid for ${daysLeft} more days.`,
  no_signing_key: ['There is no signing key yet.', 'Start the service once: the first start creates it.'],
  client_id_hash: ({ profile }) => `Wallets know this service by the hash of its certificate; profile ${profile}.`,
  client_id_named: ({ host, profile }) =>
    `Wallets know this service as ${host}, and its certificate says so; profile ${profile}.`,
  client_id_other: ({ host, owner }) => [
    `VIDIMUS_CLIENT_ID is x509_san_dns, but the signing certificate${ofTenant(owner)} is not for ${host}: wallets will refuse it.`,
    'Have "vidimus signing csr" signed and import it, or set VIDIMUS_CLIENT_ID=x509_hash.',
  ],
  signing_self_made: [
    'The certificate that wallets see was issued by this service: only wallets that have its authority trust it.',
    'Have "vidimus signing csr" signed by an authority that your wallets trust.',
  ],
  signing_flawed: ({ flaws: found }) => [
    `EU wallets may refuse the certificate that they see: ${some(found.map(({ flaw, owner }) => flaws[flaw] + ofTenant(owner)))}.`,
    'Ask the authority that issued it; for a chain that holds too much, import it again.',
  ],
  signing_ended: ({ owner }) => [
    `The certificate that wallets see${ofTenant(owner)} has expired: they refuse every request.`,
    renewSigning,
  ],
  signing_ending: ({ owner, hours }) => [
    `The certificate that wallets see${ofTenant(owner)} expires in ${hoursOrDays(hours)}.`,
    renewSigning,
  ],
  signing_good: ({ hours, others }) =>
    `The certificate that wallets see is valid for ${hoursOrDays(hours)}${others === 0 ? '' : `; ${counted(others, 'tenant has', 'tenants have')} their own`}.`,
  registrations_ended: ({ certificates }) => [
    `Registration certificates have ended: ${certificatesOf(certificates)}.`,
    renewRegistration,
  ],
  registrations_foreign: ({ certificates }) => [
    `Registration certificates are of another organisation than the certificate that wallets see: ${certificatesOf(certificates)}.`,
    'Import the access certificate of that organisation, or remove them with "vidimus registration remove".',
  ],
  registrations_revoked: ({ certificates }) => [
    `Registration certificates were revoked: ${certificatesOf(certificates)}.`,
    renewRegistration,
  ],
  registrations_unlisted: ({ certificates }) => [
    `Registration certificates lead to no registrar on the loaded list, so EU wallets will warn: ${certificatesOf(certificates)}.`,
    'Get them from a registrar on that list, or add the list that names yours: vidimus trust source add URL --kind lote --use relying-party --env live',
  ],
  registrations_missing: ({ templates }) => [
    `There is no registration certificate for what ${some(templates)} asks for: EU wallets may warn, or refuse.`,
    'Add the one of your registrar: vidimus registration add FILE',
  ],
  registrations_exceeded: ({ templates }) => [
    `Wallets will warn that ${some(templates)} asks for more than registered.`,
    'Register what it asks for, or ask for less in a template of your own.',
  ],
  registrations_ending: ({ certificates }) => [
    `Registration certificates end soon: ${certificatesOf(certificates)}.`,
    renewRegistration,
  ],
  registrations_unknown: ({ certificates }) => [
    `Whether these registration certificates were revoked could not be found out: ${certificatesOf(certificates)}.`,
    'Let this machine connect to the status list of the registrar, or try again later.',
  ],
  registrations_good: ({ certificates }) => `Registration certificates: ${certificatesOf(certificates)}.`,
  registration_unneeded: 'No template in live use needs a registration certificate.',
  registration_configured: 'Requests carry the registration certificate of VIDIMUS_REGISTRATION_CERT.',
  dc_off: 'Wallets are not asked through the browser: VIDIMUS_DC_API is off.',
  dc_plain: ({ publicUrl }) => [
    `${publicUrl} is plain http: browsers offer their wallet call on https pages only.`,
    'Put a TLS proxy in front, or set VIDIMUS_TLS_CERT; VIDIMUS_DC_API=off if nobody should use it.',
  ],
  dc_self_signed: [
    'VIDIMUS_DC_API is signed, but the certificate was issued by this service: wallets do not know who asks.',
    'Have "vidimus signing csr" signed by an authority that your wallets trust, or set VIDIMUS_DC_API=auto.',
  ],
  reader_ending: ({ subject, day, hasEnded, command }) => [
    `The reader certificate ${subject} ${hasEnded ? 'has ended' : 'ends'} on ${day}: it signs no request after that.`,
    `Import its successor: ${command}`,
  ],
  dc_offered: ({ protocols, isSelfMade, isReader, readers, origins }) => {
    const signers = isReader ? 'it' : some(readers)
    const signed =
      readers.length === 0 && !isReader
        ? 'there is no reader certificate, so org-iso-mdoc requests are not signed'
        : `org-iso-mdoc requests are signed by ${signers}`
    const asking =
      origins === 0
        ? 'in live sessions only pages of this service may ask'
        : `${origins === 1 ? 'one more origin' : `${origins} more origins`} may ask in live sessions`
    return `Browsers are offered ${protocols.join(' and ')}; the certificate was ${isSelfMade ? 'made by this service' : 'imported'}; ${signed}; ${asking}.`
  },
  no_tills_in_person: ['No till reads phones in person.', 'Pair one on the page Tills, if you want to.'],
  in_person_plain: ({ publicUrl }) => [
    `Tills cannot read phones at ${publicUrl}: browsers have camera and Bluetooth over https only.`,
    'Put a TLS proxy in front, or set VIDIMUS_TLS_CERT.',
  ],
  in_person_failing: ({ failures }) => [
    `Tills failed to read phones ${failures.length} times within a week: ${some([...new Set(failures)])}.`,
    inPersonRemedies[failures[0]!],
  ],
  in_person_unknown: ({ shops }) => [
    `Nobody signs what phones are asked at the tills of ${some(shops)}: EU wallets may refuse an unknown reader.`,
    'Import a certificate that wallets know ("vidimus signing import"), or a reader certificate (--reader).',
  ],
  in_person_ready: ({ readers }) =>
    `Tills can read phones; ${readers.length > 0 ? `they are asked by ${some(readers)}` : 'they are asked by an unknown reader'}.`,
  no_log_ins: ['No program logs people in here.', 'Add one on the page Log-ins, if you want to.'],
  log_ins_plain: ({ publicUrl }) => [
    `Programs refuse an issuer at ${publicUrl}: log-ins need https.`,
    'Put a TLS proxy in front, or set VIDIMUS_TLS_CERT, and give VIDIMUS_PUBLIC_URL as https.',
  ],
  log_ins_unreached: ({ publicUrl }) => [
    `Programs cannot fetch the settings and keys of the issuer at ${publicUrl}.`,
    'Mend what the check of the public address says.',
  ],
  log_in_keys_old: ({ shops }) => [
    `Keys that sign log-ins are older than 100 days: ${some(shops)}. They should turn every 90.`,
    'See whether the service ran within the last days; "vidimus client keys --rotate" turns them at once.',
  ],
  log_ins_refused: ({ clients }) => [
    `Programs were refused within a day: ${some(clients)}.`,
    'The page Log-ins has what they sent. A redirect address must be listed exactly as the program sends it.',
  ],
  log_ins_ready: ({ count, withoutPkce }) =>
    `${count === 1 ? '1 program logs' : `${count} programs log`} people in; ${withoutPkce.length > 0 ? `without PKCE: ${some(withoutPkce)}` : 'all with PKCE'}.`,
  no_live_keys: ['There are no live keys yet; test sessions trust the sandbox issuer.', 'See Go live in the dashboard.'],
  no_issuer: how => ['No issuer is trusted for live sessions: every session will fail.', addIssuer(how)],
  issuers_missing: ({ templates, ...how }) => [
    `No issuer is trusted in live for what ${some(templates)} asks for.`,
    addIssuer(how),
  ],
  issuers_ending: ({ issuers }) => [
    `Trusted certificates expire soon or have expired: ${some(issuers)}.`,
    'Import current ones.',
  ],
  issuers_trusted: ({ issuers, lists, files }) => {
    const from = [
      ...(lists > 0 ? [counted(lists, 'list', 'lists')] : []),
      ...(files > 0 ? [counted(files, 'file', 'files')] : []),
    ]
    return `${counted(issuers, 'issuer', 'issuers')} from ${from.join(' and ')} ${issuers === 1 ? 'is' : 'are'} trusted for live sessions.`
  },
  no_lists: ['There are no trust lists.', 'Add one under Trust, or trust issuers one by one.'],
  lists_troubled: ({ troubles }) => sayTroubles(findings, troubles),
  lists_good: ({ lists }) =>
    lists
      .map(
        ({ label, sequence, issued, next, entries, looked }) =>
          `${label}:${sequence === null ? '' : ` number ${sequence},`} issued ${issued}, next ${next}, ${counted(entries, 'issuer', 'issuers')}, looked at ${looked}.`,
      )
      .join(' '),
  list_ended: ({ id, end }) => [`has ended on ${end}: its issuers count no more`, fetchList(id)],
  list_signer_unknown: ({ id, failure, signer }) => [
    `is ${failure}`,
    `Compare the fingerprint with the operator's publication, then: vidimus trust source pin ${id} ${signer ?? 'FINGERPRINT'}`,
  ],
  list_withdrawn: ({ id }) => ['was withdrawn with its signer: none of its issuers counts', fetchList(id)],
  list_signer_unpinned: ({ id, signer, end }) => [
    `was signed by ${signer}, which is not pinned any more, and counts until ${end}`,
    fetchList(id),
  ],
  list_empty: ['names no issuer that counts any more', 'Ask its operator, or add its issuers by file.'],
  list_stale: ({ id, due, end }) => [`has been out of date since ${due} and counts until ${end}`, bringList(id)],
  list_ending: ({ id, end }) => [`counts only until ${end}`, bringList(id)],
  list_failing: ({ id, since, detail }) => [`could not be updated since ${since}: ${detail}`, bringList(id)],
  list_pin_ending: ({ id, day, fingerprint }) => [
    `has a signer that ends on ${day} (${fingerprint})`,
    `Pin its successor: vidimus trust source pin ${id} FINGERPRINT`,
  ],
  list_halved: ({ id, entries, before }) => [`names ${entries} issuers, and ${before} before`, showList(id)],
  list_number_back: ({ id, sequence, before }) => [`has number ${sequence}, and ${before} before`, showList(id)],
  list_for_tests: ({ id, name }) => [`calls itself a test list (${name})`, `Remove it: vidimus trust source remove ${id}`],
  status_lists_elsewhere: 'Only the service can check the status lists it uses: see the dashboard under Settings, Health.',
  status_lists_own: ({ count }) =>
    `Status and revocation lists read since this service started: ${count} of its own sandbox or this machine, none of other issuers.`,
  status_lists_missed: ({ missed }) => [
    `Status or revocation lists cannot be read from ${missedOf(missed)}: documents that name them may be refused (status_unknown, issuer_status_unknown).`,
    'Let this machine connect there (firewall, DNS, proxy); for a private authority, set VIDIMUS_EXTRA_CA.',
  ],
  status_lists_reached: ({ origins }) => `The hosts of the status and revocation lists in use can be reached: ${some(origins)}.`,
  status_lists_ended: ({ lists }) => [
    `Lists of revoked documents have ended: ${someAt(lists)}. Documents that name them are refused.`,
    refreshStatus,
  ],
  status_lists_old: ({ lists, hours }) => [
    `Lists of revoked documents are nearly too old, or already are: ${someAt(lists)}. This service takes none that is older than ${hours} hours.`,
    refreshStatus,
  ],
  status_lists_kept: ({ count, hours, until }) =>
    `${counted(count, 'list', 'lists')} of revoked documents may be used for ${hours} hours without a newer one; the first is too old on ${until}.`,
  status_lists_offline: ({ lists }) => [
    `Documents of the issuers on ${some(lists)} name status lists, and this machine does not reach the internet: they end as status_unknown.`,
    'Let this machine connect to the issuers (firewall, DNS, proxy), or accept documents without status lists.',
  ],
  no_webhooks: ['No webhook was sent yet, and no endpoint is set.', setEndpoint],
  no_endpoint: ({ deliveries, attempts }) => [
    `No endpoint is set now. Attempts of the latest deliveries (${deliveries}): ${attempts}.`,
    setEndpoint,
  ],
  receivers_missed: ({ missed }) => [
    `Receivers of webhooks cannot be reached: ${missedOf(missed)}.`,
    'Repair the receiver; for one in your own network, set VIDIMUS_EGRESS_ALLOW, and VIDIMUS_EXTRA_CA for its authority.',
  ],
  webhooks_failing: ({ origins }) => [
    `Webhooks of the last 24 hours failed at ${some(origins)}.`,
    'See the reasons under Webhooks in the dashboard, and replay them there.',
  ],
  receivers_reached: ({ origins }) => `The receivers can be reached: ${some(origins)}. This check sent them nothing.`,
  extra_ca_unused: 'Webhooks and status lists trust only the authorities of the system.',
  extra_ca_ending: ({ authorities }) => [
    `Authorities of VIDIMUS_EXTRA_CA expire soon or have expired: ${some(authorities)}.`,
    'Put current ones into the file, and restart the service.',
  ],
  extra_ca_good: ({ authorities }) => `Webhooks and status lists also trust ${some(authorities)}.`,
  chain_shortened: ({ dropped }) => `Left out of the chain, because wallets have it: ${dropped.join('; ')}.`,
  profile_broken: ({ broken }) =>
    `The certificate breaks the profile of access certificates (${broken.map(rule => flaws[rule]).join(', ')}); EU wallets may refuse it.`,
  authority_unlisted:
    'The certificate leads to none of the access authorities on the list that is loaded; EU wallets will refuse it.',
  registration_of_old_type: 'It is of the older German type rc-rp+jwt; ask the registrar for rc-wrp+jwt.',
  registration_empty: 'It registers no credentials, so wallets will warn of everything that is asked for.',
  registration_later: ({ from }) => `It counts from ${from} on.`,
  registration_too_long: 'It is valid for more than twelve months.',
  organization_unknown: 'The certificate that wallets see names no organisation, so the two could not be compared.',
  registration_foreign: ({ subject, organization }) =>
    `It is of ${subject}, but the certificate that wallets see is of ${organization}: it is not sent.`,
}
