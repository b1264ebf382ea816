import type { Missed, Reason } from '../../../doctor/reach.ts'
import type { RegistrationName } from '../../../doctor/registration-check.ts'
import type { Flaw } from '../../../doctor/signing-checks.ts'
import type { MailFailure } from '../../../egress/mail.ts'
import type { UnusablePair } from '../../../http/tls-pair.ts'
import type { TransportFailure } from '../../../verifications/exchange/in-person/schema.ts'
import { type FindingWords, say, sayTroubles, someOf } from './say.ts'

const some = (names: readonly string[]) => someOf(names, count => `und ${count} weitere`)
const ofTenant = (owner: string | null) => (owner === null ? '' : ` des Geschäfts ${owner}`)
const inHoursOrDays = (hours: number) => (hours >= 48 ? `${Math.floor(hours / 24)} Tagen` : `${hours} Stunden`)
const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

export const flaws: Record<Flaw, string> = {
  no_identifier: 'keine Kennung der Organisation im Inhaber',
  no_contact: 'kein Kontakt in den alternativen Namen',
  no_policy: 'keine Richtlinie 0.4.0.194118.1.x',
  no_signatures: 'ein Schlüsselzweck, der keine Signaturen erlaubt',
  is_authority: 'eine Zertifizierungsstelle statt eines Inhabers',
  no_name: 'kein Name einer Organisation oder Person im Inhaber',
  no_revocation: 'keine Adresse einer Sperrliste',
  listed_inside: 'eine gelistete Stelle in der Kette',
  no_path: 'kein Pfad zu einer Stelle auf der geladenen Liste',
}

const unreachable: Record<Reason, string> = {
  unknown: 'sein Name wurde nicht gefunden',
  refused: 'seine Adresse ist nicht erlaubt',
  silent: 'er antwortet nicht',
  untrusted: 'sein Zertifikat gilt nicht',
  closed: 'er lehnt die Verbindung ab',
}

/** Warum eine E-Mail nicht verschickt wurde. */
export const mailFailures: Record<MailFailure, string> = {
  name_unknown: 'der Name des Mailservers wurde nicht gefunden',
  unreachable: 'der Mailserver antwortet an diesem Port nicht',
  broken_off: 'der Mailserver hat die Verbindung abgebrochen',
  too_slow: 'der Mailserver hat zu lange gebraucht',
  tls_failed: 'sein Zertifikat ist nicht gültig, oder er spricht an diesem Port kein TLS',
  unencrypted: 'er bietet keine Verschlüsselung an, deshalb wurde das Passwort nicht gesendet',
  log_in_refused: 'er hat Benutzer oder Passwort abgelehnt',
  receiver_refused: 'er hat die Adresse des Empfängers abgelehnt',
  refused: 'er hat die E-Mail abgelehnt',
  cancelled: 'der Dienst wurde angehalten',
}

/** Nach dem Code des letzten Fehlers. */
const inPersonRemedies: Record<TransportFailure['code'], string> = {
  no_bluetooth: 'Schalten Sie Bluetooth am Tablet ein, und erlauben Sie es dem Browser.',
  not_chosen: 'Tippen Sie in der Liste des Browsers auf das eine Handy; auch dort muss Bluetooth an sein.',
  not_connected: 'Halten Sie Handy und Tablet nah beieinander, und lassen Sie sich einen neuen Code zeigen.',
  wrong_service: 'Diese Handys bieten nicht, was ihr Code verspricht: Fragen Sie sie auf einem anderen Weg.',
  write_failed: 'Aktualisieren Sie den Browser, und halten Sie Handy und Tablet nah beieinander.',
  bad_chunk: 'Diese Handys senden Unlesbares: Fragen Sie sie auf einem anderen Weg.',
  too_large: 'Diese Handys senden mehr als erlaubt: Fragen Sie sie auf einem anderen Weg.',
  lost: 'Halten Sie das Handy nah, bis das Tablet das Ergebnis zeigt.',
  timed_out: 'Halten Sie das Handy nah, bis das Tablet das Ergebnis zeigt.',
}

const missedOf = (missed: readonly Missed[]) => some(missed.map(({ origin, why }) => `${origin} (${unreachable[why]})`))
const certificatesOf = (certificates: readonly RegistrationName[]) =>
  some(certificates.map(({ name, end }) => `${name} (${end === null ? 'ohne Ende' : `bis ${end}`})`))

const roomNeeded = 'Schaffen Sie Platz auf der Platte des Datenverzeichnisses.'
const untilKeyTurns = 'Gelöschtes ist bis zum Wechsel aus alten Kopien mit den Schlüsseln lesbar.'
const synchroniseClock = 'Lassen Sie die Maschine ihre Uhr stellen, zum Beispiel mit „timedatectl set-ntp true“.'
const renewTls = 'Erneuern Sie es; bei SIGHUP lädt der Dienst sein eigenes Zertifikat neu.'
const renewSigning = 'Erneuern Sie es mit „vidimus signing csr“ und „vidimus signing import“.'
const renewRegistration =
  'Holen Sie bei der Registerstelle ein gültiges, fügen Sie es mit „vidimus registration add“ hinzu, und entfernen Sie das alte.'
const setEndpoint = 'Setzen Sie unter Webhooks eine Adresse, wenn Ihre Software Ergebnisse bekommen soll.'
const addFactor = 'Lassen Sie sie im Dashboard unter Einstellungen, Sie selbst, einen Passkey oder Einmalcodes einrichten.'
const addIssuer = ({ list, one }: { list: string | null; one: string }) =>
  list === null ? `Fügen Sie einen hinzu: ${one}` : `Fügen Sie seine Liste hinzu: ${list}; oder einen Aussteller: ${one}`
const fetchList = (id: string) => {
  const refresh = `vidimus trust source refresh ${id}`
  return `Sehen Sie nach mit „${refresh}“, oder bringen Sie sie mit: ${refresh} --file LISTE`
}
const bringList = (id: string) =>
  `Lassen Sie diese Maschine sie erreichen, oder bringen Sie sie mit: vidimus trust source refresh ${id} --file LISTE`
const someAt = (lists: readonly { host: string; at: string }[]) => some(lists.map(({ host, at }) => `${host} (${at})`))
const refreshStatus =
  'Lassen Sie diese Maschine dorthin verbinden („vidimus trust status refresh“), oder bringen Sie ein Bündel: vidimus trust bundle export DATEI --status'
const showList = (id: string) => `Siehe „vidimus trust source show ${id}“.`
const archived = (at: string) =>
  `Der Server hat sein Log zuletzt am ${at} archiviert. Grundsicherungen sind von hier nicht zu sehen.`
const mayOpen = ({ isServer }: { isServer: boolean }) => `${isServer ? 'Der Dienst' : 'Ein von hier gestartetes Programm'} darf`

const unusablePair = ({ reason, certFile, keyFile }: { reason: UnusablePair['reason']; certFile: string; keyFile: string }) =>
  ({
    cert_unreadable: `VIDIMUS_TLS_CERT: ${certFile} lässt sich nicht lesen.`,
    key_unreadable: `VIDIMUS_TLS_KEY: ${keyFile} lässt sich nicht lesen.`,
    no_certificate: `VIDIMUS_TLS_CERT: ${certFile} enthält kein lesbares Zertifikat; es muss PEM sein, das des Dienstes zuerst.`,
    no_key: `VIDIMUS_TLS_KEY: ${keyFile} enthält keinen lesbaren privaten Schlüssel; er muss PEM sein, ohne Passwort.`,
    other_key: `VIDIMUS_TLS_KEY: ${keyFile} ist nicht der Schlüssel des ersten Zertifikats in ${certFile}.`,
  })[reason]

export const findings: FindingWords = {
  right_lacking: [
    'Dem Benutzer aus VIDIMUS_DATABASE_URL fehlt ein Recht, das diese Prüfung braucht.',
    'Rufen Sie „vidimus upgrade“ mit VIDIMUS_DATABASE_OWNER_URL auf; das erteilt es.',
  ],
  check_slow: ({ seconds }) => [
    `Die Prüfung dauerte länger als ${seconds} Sekunden.`,
    'Versuchen Sie es wieder, wenn die Maschine weniger zu tun hat.',
  ],
  check_failed: ({ failure }) => [
    `Die Prüfung selbst ist gescheitert (${failure}).`,
    'Versuchen Sie es noch einmal; geschieht es wieder, melden Sie diese Zeile.',
  ],
  running: 'Der Dienst läuft.',
  running_on: ({ dir }) => `Auf ${dir} läuft ein Dienst.`,
  not_running: ({ dir }) => [`Auf ${dir} läuft kein Dienst.`, 'Starten Sie ihn: vidimus serve'],
  no_node: ['An dieser Datenbank läuft kein Dienst.', 'Starten Sie ihn: vidimus serve'],
  nodes_running: ({ nodes }) => `${counted(nodes.length, 'Knoten läuft', 'Knoten laufen')}: ${some(nodes)}.`,
  nodes_differ: ({ nodes }) => [
    `${counted(nodes.length, 'Knoten läuft', 'Knoten laufen')}: ${some(nodes)}.`,
    'Sie haben verschiedene Versionen: Starten Sie die älteren mit dem neuen Programm neu.',
  ],
  file_damaged: [
    'Die Datenbank ist beschädigt.',
    'Halten Sie den Dienst an, und ersetzen Sie die Datenbank mit „vidimus restore“.',
  ],
  file_too_large: [
    'Die Datenbank ist zu groß, um in dieser Prüfung jede Seite zu lesen.',
    'Rufen Sie „vidimus backup DATEI“ auf: Das prüft jede Seite der Kopie.',
  ],
  file_sound: ({ size }) => `Die Datenbank ist unbeschädigt (${size}).`,
  commit_not_synchronous: [
    'synchronous_commit ist aus: Bei einem Absturz des Servers geht Bestätigtes verloren.',
    'Schalten Sie es für Benutzer und Datenbank des Dienstes ein.',
  ],
  statements_unlimited: [
    'Durch einen Pooler kann der Dienst seine Anweisungen nicht begrenzen, und der Server tut es nicht.',
    "Führen Sie aus: ALTER ROLE … SET statement_timeout = '5s'; ebenso lock_timeout = '2s' und idle_in_transaction_session_timeout = '5s'.",
  ],
  rights_lacking: ({ tables }) => [
    `Dem Benutzer aus VIDIMUS_DATABASE_URL fehlen Rechte an ${some(tables)}: Anfragen scheitern.`,
    'Rufen Sie „vidimus upgrade“ mit VIDIMUS_DATABASE_OWNER_URL auf; das erteilt sie.',
  ],
  server_full: ['Die Platte des Datenbankservers ist voll oder fast voll: Neue Prüfungen scheitern.', 'Schaffen Sie dort Platz.'],
  no_standby: 'Von hier ist kein Standby zu sehen.',
  standbys_synchronous: ({ synchronous, count }) => `${synchronous} von ${count} Standbys sind synchron.`,
  standbys_unseen: ({ count }) => `${count} Standbys; um mehr zu sehen, geben Sie dem Benutzer des Dienstes pg_monitor.`,
  standbys_behind: ({ behind }) => [
    `Kein Standby ist synchron: Ein Wechsel kann Bestätigtes verlieren. Der nächste liegt ${behind} zurück.`,
    'Nennen Sie einen in synchronous_standby_names, wenn das nicht sein darf.',
  ],
  rows_pile_up: ({ tables }) => [
    `Gelöschte Zeilen häufen sich in ${tables.join(', ')}.`,
    'Sorgen Sie dafür, dass autovacuum läuft, und beenden Sie stundenlange Transaktionen.',
  ],
  no_checksums: [
    'Der Server hat keine Prüfsummen: Schäden auf seiner Platte bleiben unbemerkt.',
    'Halten Sie ihn an und rufen Sie auf: pg_checksums --enable',
  ],
  upgrade_unfinished: ({ migrations }) => [
    `Die letzte Umstellung ist nicht abgeschlossen (${migrations.join(', ')}).`,
    'Sobald kein Knoten der früheren Version mehr läuft: vidimus upgrade --finish',
  ],
  postgres_answers: ({ version, standbys }) => `PostgreSQL ${version} antwortet. ${say(findings, standbys).detail}`,
  key_missing: ({ file }) => [
    `${file} fehlt: Der nächste Start wird scheitern.`,
    'Legen Sie die Datei aus Ihrer sicheren Kopie zurück.',
  ],
  key_readable: ({ file, remedy }) => [
    `${file} ist für andere lesbar: Der nächste Start wird scheitern.`,
    `Rufen Sie auf: ${remedy}`,
  ],
  key_private: ({ isGiven }) =>
    `Nur der Eigentümer${isGiven ? ' oder seine Gruppe' : ''} kann den Hauptschlüssel lesen. Bewahren Sie anderswo eine Kopie auf.`,
  disk_full: ({ free }) => [`Die Platte ist fast voll: ${free} frei, und keine Reserve zum Löschen mehr.`, roomNeeded],
  disk_low: ({ free }) => [`Die Platte ist fast voll: ${free} frei.`, roomNeeded],
  disk_roomy: ({ free, reserve, isHeld }) =>
    `${free} frei; ${isHeld ? `${reserve} sind zum Löschen zurückgelegt` : `ein laufender Dienst legt ${reserve} zum Löschen zurück`}.`,
  backups_off: ['Der Dienst macht keine Sicherungen.', 'Setzen Sie VIDIMUS_BACKUPS, oder sorgen Sie anders für Sicherungen.'],
  backup_failed: ({ at, failure }) => [
    `Die letzte Sicherung ist am ${at} gescheitert (${failure}).`,
    'Siehe backup.failed im Log.',
  ],
  no_backup: ['Es gibt noch keine Sicherung.', 'Ein laufender Dienst macht die erste binnen Minuten.'],
  backup_old: ({ hours }) => [
    `Die neueste Sicherung ist ${hours >= 48 ? `${Math.floor(hours / 24)} Tage` : `${hours} Stunden`} alt.`,
    'Starten Sie den Dienst; siehe backup.failed im Log.',
  ],
  backup_good: ({ at }) =>
    `Die neueste Sicherung ist vom ${at} und geprüft. Bewahren Sie auch eine auf einer anderen Maschine auf.`,
  archive_off: [
    'Der Server archiviert kein Log, und andere Sicherungen sind von hier nicht zu sehen.',
    'Sorgen Sie dafür, dass es welche gibt, und spielen Sie eine zur Probe zurück.',
  ],
  archive_failing: ({ since }) => [
    `Der Server kann sein Log seit ${since} nicht archivieren.`,
    'Lesen Sie das Log des Servers: archive_command scheitert.',
  ],
  archive_empty: [
    'Der Server hat noch nichts archiviert.',
    'Sorgen Sie für Grundsicherungen, und spielen Sie eine zur Probe zurück.',
  ],
  archive_old: ({ at }) => [
    `Der Server hat sein Log zuletzt am ${at} archiviert.`,
    'Setzen Sie archive_timeout, damit wenig verloren gehen kann.',
  ],
  archive_good_directory_passing: ({ at, dir }) => [
    `${archived(at)} Aber ${dir} endet mit diesem Container, und damit das Log der Löschungen, das eine Rücksicherung braucht.`,
    'Legen Sie VIDIMUS_DATA_DIR auf ein Volume.',
  ],
  archive_good: ({ at }) => archived(at),
  sessions_locked: ({ file, unreadable }) => [
    `Ohne ${file} lassen sich diese Prüfungen nicht entschlüsseln: ${some(unreadable)}.`,
    'Legen Sie die Datei aus Ihrer sicheren Kopie des Schlüsselverzeichnisses zurück, und löschen Sie keine von ihnen.',
  ],
  sessions_unreadable: ({ unreadable }) => [
    `Diese Prüfungen lassen sich nicht mehr entschlüsseln, und Listen mit ihnen scheitern: ${some(unreadable)}.`,
    'Löschen Sie sie; oder halten Sie den Dienst an, und spielen Sie eine Sicherung zurück.',
  ],
  sessions_readable: ({ engine, looked }) =>
    `${say(findings, engine).detail} ${looked === null ? 'Jede Prüfung' : `In der Zeit dieser Untersuchung jede von ${looked} Prüfungen`} ist lesbar.`,
  wrapping_key_closed: ({ file }) => [
    `Dieser Benutzer darf ${file} nicht lesen: Prüfungen sind nicht lesbar, und der nächste Start wird scheitern.`,
    'Lassen Sie den Benutzer des Dienstes die Datei lesen.',
  ],
  wrapping_key_missing: ({ file }) => [
    `${file} fehlt oder ist falsch: Prüfungen sind nicht lesbar, und der nächste Start wird scheitern.`,
    'Legen Sie die Datei aus Ihrer sicheren Kopie des Schlüsselverzeichnisses zurück.',
  ],
  wrapping_key_readable: ({ file }) => [
    `${file} ist für andere lesbar: Der nächste Start wird scheitern.`,
    `Führen Sie aus: chmod 600 ${file}`,
  ],
  no_wrapping_key: ['Es gibt noch keinen Hüllschlüssel.', 'Starten Sie den Dienst einmal: Der erste Start erzeugt ihn.'],
  sealing_again: ({ count, total }) => [
    `${count} von ${total} Prüfungen sind mit den neuesten Schlüsseln versiegelt; für die anderen zählen noch alte.`,
    'Lassen Sie den Dienst laufen: Er macht von selbst weiter.',
  ],
  wrapping_key_unshared: ({ keyDir }) => [
    `Der Hüllschlüssel wechselt nicht, weil nicht jeder Knoten ${keyDir} lesen kann. ${untilKeyTurns}`,
    'Lassen Sie alle Knoten dieses Verzeichnis teilen, auf einem beliebigen Netzlaufwerk.',
  ],
  wrapping_key_old: ({ days, keyDir }) => [
    `Der Hüllschlüssel hat seit ${days} Tagen nicht gewechselt. ${untilKeyTurns}`,
    `Lassen Sie den Dienst nach ${keyDir} schreiben; siehe keys.not_turned im Log.`,
  ],
  wrapping_key_good: ({ since, days }) =>
    `Der Hüllschlüssel ist seit ${since} in Gebrauch. Gelöschtes ist nach ${days} Tagen aus keiner Kopie mehr lesbar.`,
  clock_behind: ({ at, shown }) => [`Die Uhr zeigt ${at}, aber hier war es schon ${shown}.`, synchroniseClock],
  clock_apart: ({ seconds }) => [
    `Die Uhr weicht um ${seconds} Sekunden von der an der öffentlichen Adresse ab.`,
    synchroniseClock,
  ],
  clock_set: ({ at }) => [`Die Uhr wurde gestellt, oder die Maschine schlief, etwa am ${at}.`, synchroniseClock],
  clock_good: ({ at }) => `Die Uhr zeigt ${at}.`,
  files_unknown: 'Dieses System sagt nicht, wie viele Dateien ein Programm öffnen darf.',
  files_enough: ({ limit, ...who }) => `${mayOpen(who)} ${limit} Dateien und Verbindungen öffnen.`,
  files_few: ({ limit, needed, ...who }) => [
    `${mayOpen(who)} nur ${limit} Dateien und Verbindungen öffnen: Bei vielen Telefonen zugleich werden einige abgewiesen.`,
    `Erlauben Sie ${needed}: "ulimit -n ${needed}", oder LimitNOFILE=${needed} für systemd.`,
  ],
  no_mail: [
    'Es werden keine E-Mails verschickt: Von Störungen erfahren Eigentümer nur hier.',
    'Setzen Sie VIDIMUS_SMTP_URL und VIDIMUS_MAIL_FROM.',
  ],
  mail_failing: ({ at, failure }) => [
    `Die letzte E-Mail um ${at} wurde nicht verschickt: ${mailFailures[failure]}.`,
    'Prüfen Sie VIDIMUS_SMTP_URL und drücken Sie dann „Testmail senden“ unter Einstellungen, Sie selbst. Ausstehende E-Mails gehen später von selbst hinaus.',
  ],
  mail_for_nobody: [
    'E-Mail ist eingerichtet, aber kein Eigentümer hat eine bestätigte Adresse.',
    'Wer von den Eigentümern E-Mails möchte, trägt unter Einstellungen, Sie selbst, eine Adresse ein.',
  ],
  mail_sent: ({ at, receivers }) =>
    `E-Mails erhalten: ${counted(receivers, 'Eigentümer', 'Eigentümer')}; die letzte ging um ${at} hinaus.`,
  mail_untried: ({ receivers }) =>
    `E-Mails erhalten: ${counted(receivers, 'Eigentümer', 'Eigentümer')}; noch wurde keine verschickt.`,
  second_factors_set: 'Alle Eigentümer haben einen zweiten Faktor, oder es gibt noch keine.',
  second_factors_unset: ({ owners }) => [
    `Eigentümer ohne zweiten Faktor: ${owners}. Noch hat kein Geschäft einen Live-Schlüssel.`,
    addFactor,
  ],
  second_factors_missing: ({ owners }) => [
    `Eigentümer ohne zweiten Faktor: ${owners}. Ihr Passwort allein öffnet jedes Live-Geschäft.`,
    addFactor,
  ],
  address_unknown: ['Die öffentliche Adresse ist unbekannt, weil das System den Port wählt.', 'Setzen Sie VIDIMUS_PUBLIC_URL.'],
  address_local: ({ publicUrl }) => [
    `${publicUrl} ist eine Adresse dieser Maschine: genug zum Ausprobieren, aber ein Telefon erreicht sie nicht.`,
    'Geben Sie dem Dienst einen öffentlichen Namen, und setzen Sie VIDIMUS_PUBLIC_URL darauf.',
  ],
  name_unknown: ({ host }) => [
    `${host} wurde im DNS nicht gefunden.`,
    'Veröffentlichen Sie den Namen, oder berichtigen Sie VIDIMUS_PUBLIC_URL.',
  ],
  address_plain: ({ publicUrl }) => [
    `${publicUrl} ist unverschlüsseltes http: Die meisten Wallets lehnen es ab.`,
    'Stellen Sie einen TLS-Proxy davor, oder setzen Sie VIDIMUS_TLS_CERT.',
  ],
  address_private: ({ host }) => [
    `${host} führt zu einer privaten Adresse: Telefone erreichen sie nur in diesem Netz.`,
    'Sind Ihre Kunden anderswo, geben Sie dem Namen eine öffentliche Adresse.',
  ],
  address_reached: ({ publicUrl }) => `${publicUrl} erreicht diesen Dienst, von dieser Maschine aus gesehen.`,
  address_silent: ({ publicUrl }) => [
    `Unter ${publicUrl} antwortet nichts.`,
    'Starten Sie den Dienst, und leiten Sie diese Adresse in Proxy, Router und Firewall zu ihm.',
  ],
  address_of_another: ({ publicUrl }) => [
    `Unter ${publicUrl} antwortet etwas anderes als diese Installation.`,
    'Berichtigen Sie den Proxy oder VIDIMUS_PUBLIC_URL.',
  ],
  address_answers_otherwise: ({ publicUrl, status }) => [
    `${publicUrl}/healthz antwortet ${status} statt dieser Installation.`,
    'Lassen Sie den Proxy jeden Pfad unter VIDIMUS_PUBLIC_URL mit seinen Headern weiterleiten.',
  ],
  tls_unused: ['Die öffentliche Adresse ist nicht https, also gibt es kein Zertifikat zu prüfen.', 'Siehe öffentliche Adresse.'],
  tls_unseen: ({ host }) => [`Es gibt kein Zertifikat zu prüfen: ${host} antwortet nicht.`, 'Siehe öffentliche Adresse.'],
  tls_unusable: pair => [
    unusablePair(pair),
    'Legen Sie Zertifikat und Schlüssel dort ab: Ohne sie scheitert der nächste Start des Dienstes.',
  ],
  tls_ended: ({ host }) => [`Das Zertifikat von ${host} ist abgelaufen.`, renewTls],
  tls_too_early: ({ host, begin }) => [
    `Das Zertifikat von ${host} gilt erst ab ${begin}.`,
    'Liefern Sie bis dahin das vorige aus; ist die Zeit hier falsch, stellen Sie die Uhr.',
  ],
  tls_other_name: ({ host }) => [
    `Das Zertifikat gilt nicht für ${host}.`,
    'Besorgen Sie eines für diesen Namen, oder berichtigen Sie VIDIMUS_PUBLIC_URL.',
  ],
  tls_local: ({ host }) => [
    `Das Zertifikat von ${host} ist von der eigenen Stelle: Kassen, die sie kennen, vertrauen ihm, Telefone nicht.`,
    'Nehmen Sie für Wallets ein Zertifikat einer öffentlichen Stelle.',
  ],
  tls_untrusted: ({ host }) => [
    `Das Zertifikat von ${host} führt zu keiner Stelle, der diese Maschine vertraut.`,
    'Nehmen Sie eines von einer öffentlichen Stelle, und liefern Sie die ganze Kette aus.',
  ],
  tls_ending: ({ host, daysLeft }) => [`Das Zertifikat von ${host} läuft in ${daysLeft} Tagen ab.`, renewTls],
  tls_good: ({ host, daysLeft }) => `Das Zertifikat von ${host} ist vertrauenswürdig und noch ${daysLeft} Tage gültig.`,
  no_signing_key: ['Es gibt noch keinen Signaturschlüssel.', 'Starten Sie den Dienst einmal: Der erste Start erzeugt ihn.'],
  client_id_hash: ({ profile }) => `Wallets erkennen diesen Dienst am Hash seines Zertifikats; Profil ${profile}.`,
  client_id_named: ({ host, profile }) =>
    `Wallets kennen diesen Dienst als ${host}, und sein Zertifikat sagt das auch; Profil ${profile}.`,
  client_id_other: ({ host, owner }) => [
    `VIDIMUS_CLIENT_ID ist x509_san_dns, aber das Signaturzertifikat${ofTenant(owner)} gilt nicht für ${host}: Wallets werden es ablehnen.`,
    'Lassen Sie „vidimus signing csr“ unterschreiben und setzen Sie es ein, oder setzen Sie VIDIMUS_CLIENT_ID=x509_hash.',
  ],
  signing_self_made: [
    'Das Zertifikat, das Wallets sehen, stammt von diesem Dienst: Nur Wallets, die seine Stelle kennen, vertrauen ihm.',
    'Lassen Sie „vidimus signing csr“ von einer Stelle unterschreiben, der Ihre Wallets vertrauen.',
  ],
  signing_flawed: ({ flaws: found }) => [
    `EU-Wallets lehnen das Zertifikat, das sie sehen, vielleicht ab: ${some(found.map(({ flaw, owner }) => flaws[flaw] + ofTenant(owner)))}.`,
    'Fragen Sie die Stelle, die es ausgestellt hat; ist die Kette zu lang, setzen Sie sie neu ein.',
  ],
  signing_ended: ({ owner }) => [
    `Das Zertifikat, das Wallets sehen${ofTenant(owner)}, ist abgelaufen: Sie lehnen jede Anfrage ab.`,
    renewSigning,
  ],
  signing_ending: ({ owner, hours }) => [
    `Das Zertifikat, das Wallets sehen${ofTenant(owner)}, läuft in ${inHoursOrDays(hours)} ab.`,
    renewSigning,
  ],
  signing_good: ({ hours, others }) =>
    `Das Zertifikat, das Wallets sehen, läuft in ${inHoursOrDays(hours)} ab${others === 0 ? '' : `; ${counted(others, 'Geschäft hat ein eigenes', 'Geschäfte haben eigene')}`}.`,
  registrations_ended: ({ certificates }) => [
    `Registrierungszertifikate sind abgelaufen: ${certificatesOf(certificates)}.`,
    renewRegistration,
  ],
  registrations_foreign: ({ certificates }) => [
    `Registrierungszertifikate gehören einer anderen Organisation als das Zertifikat, das Wallets sehen: ${certificatesOf(certificates)}.`,
    'Setzen Sie das Zugangszertifikat dieser Organisation ein, oder entfernen Sie sie mit „vidimus registration remove“.',
  ],
  registrations_revoked: ({ certificates }) => [
    `Registrierungszertifikate wurden widerrufen: ${certificatesOf(certificates)}.`,
    renewRegistration,
  ],
  registrations_unlisted: ({ certificates }) => [
    `Registrierungszertifikate führen zu keiner Registerstelle auf der geladenen Liste, EU-Wallets werden also warnen: ${certificatesOf(certificates)}.`,
    'Holen Sie sie bei einer Registerstelle auf dieser Liste, oder fügen Sie die Liste hinzu, auf der Ihre steht: vidimus trust source add URL --kind lote --use relying-party --env live',
  ],
  registrations_missing: ({ templates }) => [
    `Für das, wonach ${some(templates)} fragt, gibt es kein Registrierungszertifikat: EU-Wallets warnen vielleicht oder lehnen ab.`,
    'Fügen Sie das Ihrer Registerstelle hinzu: vidimus registration add DATEI',
  ],
  registrations_exceeded: ({ templates }) => [
    `Wallets werden warnen, dass ${some(templates)} nach mehr fragt als registriert.`,
    'Registrieren Sie, wonach gefragt wird, oder fragen Sie in einer eigenen Vorlage nach weniger.',
  ],
  registrations_ending: ({ certificates }) => [
    `Registrierungszertifikate laufen bald ab: ${certificatesOf(certificates)}.`,
    renewRegistration,
  ],
  registrations_unknown: ({ certificates }) => [
    `Ob diese Registrierungszertifikate widerrufen wurden, war nicht festzustellen: ${certificatesOf(certificates)}.`,
    'Lassen Sie diese Maschine zur Statusliste der Registerstelle verbinden, oder versuchen Sie es später wieder.',
  ],
  registrations_good: ({ certificates }) => `Registrierungszertifikate: ${certificatesOf(certificates)}.`,
  registration_unneeded: 'Keine in Live benutzte Vorlage braucht ein Registrierungszertifikat.',
  registration_configured: 'Anfragen bringen das Registrierungszertifikat aus VIDIMUS_REGISTRATION_CERT mit.',
  dc_off: 'Wallets werden nicht über den Browser gefragt: VIDIMUS_DC_API ist aus.',
  dc_plain: ({ publicUrl }) => [
    `${publicUrl} ist unverschlüsseltes http: Browser rufen Wallets nur auf https-Seiten auf.`,
    'Stellen Sie einen TLS-Proxy davor, oder setzen Sie VIDIMUS_TLS_CERT; VIDIMUS_DC_API=off, wenn es niemand nutzen soll.',
  ],
  dc_self_signed: [
    'VIDIMUS_DC_API ist signed, aber das Zertifikat stammt von diesem Dienst: Wallets wissen nicht, wer fragt.',
    'Lassen Sie „vidimus signing csr“ von einer Stelle unterschreiben, der Ihre Wallets vertrauen, oder setzen Sie VIDIMUS_DC_API=auto.',
  ],
  reader_ending: ({ subject, day, hasEnded, command }) => [
    `Das Lesezertifikat ${subject} ${hasEnded ? 'ist' : 'läuft'} am ${day} ${hasEnded ? 'abgelaufen' : 'ab'}: Danach signiert es keine Anfrage mehr.`,
    `Setzen Sie seinen Nachfolger ein: ${command}`,
  ],
  dc_offered: ({ protocols, isSelfMade, isReader, readers, origins }) => {
    const signers = isReader ? 'es' : some(readers)
    const signed =
      readers.length === 0 && !isReader
        ? 'es gibt kein Lesezertifikat, Anfragen für org-iso-mdoc sind also nicht signiert'
        : `Anfragen für org-iso-mdoc signiert ${signers}`
    const more = origins === 1 ? 'darf ein weiterer Ursprung fragen' : `dürfen ${origins} weitere Ursprünge fragen`
    const asking = origins === 0 ? 'in Live fragen nur Seiten dieses Dienstes' : `in Live ${more}`
    return `Browsern wird ${protocols.join(' und ')} angeboten; das Zertifikat ${isSelfMade ? 'stammt von diesem Dienst' : 'wurde eingesetzt'}; ${signed}; ${asking}.`
  },
  no_tills_in_person: ['Keine Kasse liest Handys vor Ort.', 'Koppeln Sie eine auf der Seite „Kassen“, wenn Sie das möchten.'],
  in_person_plain: ({ publicUrl }) => [
    `Kassen können unter ${publicUrl} keine Handys lesen: Browser erlauben Kamera und Bluetooth nur über https.`,
    'Stellen Sie einen TLS-Proxy davor, oder setzen Sie VIDIMUS_TLS_CERT.',
  ],
  in_person_failing: ({ failures }) => [
    `Kassen konnten Handys innerhalb einer Woche ${failures.length}-mal nicht lesen: ${some([...new Set(failures)])}.`,
    inPersonRemedies[failures[0]!],
  ],
  in_person_unknown: ({ shops }) => [
    `Niemand signiert, wonach Handys an den Kassen von ${some(shops)} gefragt werden: EU-Wallets können Unbekannte ablehnen.`,
    'Setzen Sie ein Zertifikat ein, das Wallets kennen („vidimus signing import“), oder ein Lesezertifikat (--reader).',
  ],
  in_person_ready: ({ readers }) =>
    `Kassen können Handys lesen; es fragt ${readers.length > 0 ? some(readers) : 'ein Unbekannter'}.`,
  no_log_ins: [
    'Kein Programm meldet hier Menschen an.',
    'Fügen Sie eines auf der Seite „Anmeldungen“ hinzu, wenn Sie das möchten.',
  ],
  log_ins_plain: ({ publicUrl }) => [
    `Programme lehnen einen Aussteller unter ${publicUrl} ab: Anmeldungen brauchen https.`,
    'Stellen Sie einen TLS-Proxy davor, oder setzen Sie VIDIMUS_TLS_CERT, und geben Sie VIDIMUS_PUBLIC_URL mit https an.',
  ],
  log_ins_unreached: ({ publicUrl }) => [
    `Programme bekommen Einstellungen und Schlüssel des Ausstellers unter ${publicUrl} nicht.`,
    'Beheben Sie, was die Prüfung der öffentlichen Adresse sagt.',
  ],
  log_in_keys_old: ({ shops }) => [
    `Schlüssel, die Anmeldungen unterschreiben, sind älter als 100 Tage: ${some(shops)}. Sie sollten alle 90 wechseln.`,
    'Sehen Sie nach, ob der Dienst in den letzten Tagen lief; „vidimus client keys --rotate“ wechselt sie sofort.',
  ],
  log_ins_refused: ({ clients }) => [
    `Programme wurden innerhalb eines Tages abgewiesen: ${some(clients)}.`,
    'Die Seite „Anmeldungen“ zeigt, was sie sandten. Eine Rücksprungadresse muss genau so eingetragen sein, wie das Programm sie sendet.',
  ],
  log_ins_ready: ({ count, withoutPkce }) =>
    `${count === 1 ? '1 Programm meldet' : `${count} Programme melden`} Menschen an; ${withoutPkce.length > 0 ? `ohne PKCE: ${some(withoutPkce)}` : 'alle mit PKCE'}.`,
  no_live_keys: [
    'Es gibt noch keine Schlüssel für Live; Testsitzungen vertrauen dem Sandbox-Aussteller.',
    'Siehe „Live gehen“ im Dashboard.',
  ],
  no_issuer: how => ['In Live wird keinem Aussteller vertraut: Jede Prüfung wird scheitern.', addIssuer(how)],
  issuers_missing: ({ templates, ...how }) => [
    `In Live wird keinem Aussteller für das vertraut, wonach ${some(templates)} fragt.`,
    addIssuer(how),
  ],
  issuers_ending: ({ issuers }) => [
    `Vertraute Zertifikate laufen bald ab oder sind abgelaufen: ${some(issuers)}.`,
    'Fügen Sie gültige hinzu.',
  ],
  issuers_trusted: ({ issuers, lists, files }) => {
    const from = [
      ...(lists > 0 ? [counted(lists, 'Liste', 'Listen')] : []),
      ...(files > 0 ? [counted(files, 'Datei', 'Dateien')] : []),
    ]
    return `In Live ${issuers === 1 ? 'wird' : 'werden'} ${counted(issuers, 'Aussteller', 'Ausstellern')} aus ${from.join(' und ')} vertraut.`
  },
  no_lists: ['Es gibt keine Vertrauenslisten.', 'Fügen Sie unter Vertrauen eine hinzu, oder vertrauen Sie Ausstellern einzeln.'],
  lists_troubled: ({ troubles }) => sayTroubles(findings, troubles),
  lists_good: ({ lists }) =>
    lists
      .map(
        ({ label, sequence, issued, next, entries, looked }) =>
          `${label}:${sequence === null ? '' : ` Nummer ${sequence},`} herausgegeben ${issued}, nächste ${next}, ${entries} Aussteller, angesehen ${looked}.`,
      )
      .join(' '),
  list_ended: ({ id, end }) => [`ist am ${end} abgelaufen: Ihre Aussteller zählen nicht mehr`, fetchList(id)],
  list_signer_unknown: ({ id, failure, signer }) => [
    `hat einen Unterzeichner, den Sie nicht festgelegt haben (${failure})`,
    `Vergleichen Sie den Fingerabdruck mit der Veröffentlichung des Betreibers, dann: vidimus trust source pin ${id} ${signer ?? 'FINGERABDRUCK'}`,
  ],
  list_withdrawn: ({ id }) => ['wurde mit ihrem Unterzeichner zurückgezogen: Keiner ihrer Aussteller zählt', fetchList(id)],
  list_signer_unpinned: ({ id, signer, end }) => [
    `wurde von ${signer} unterzeichnet, der nicht mehr festgelegt ist, und zählt bis ${end}`,
    fetchList(id),
  ],
  list_empty: [
    'nennt keinen Aussteller mehr, der zählt',
    'Fragen Sie den Betreiber, oder fügen Sie ihre Aussteller per Datei hinzu.',
  ],
  list_stale: ({ id, due, end }) => [`ist seit ${due} veraltet und zählt bis ${end}`, bringList(id)],
  list_ending: ({ id, end }) => [`zählt nur bis ${end}`, bringList(id)],
  list_failing: ({ id, since, failure }) => [`ließ sich seit ${since} nicht aktualisieren (${failure})`, bringList(id)],
  list_pin_ending: ({ id, day, fingerprint }) => [
    `hat einen Unterzeichner, der am ${day} abläuft (${fingerprint})`,
    `Legen Sie den Nachfolger fest: vidimus trust source pin ${id} FINGERABDRUCK`,
  ],
  list_halved: ({ id, entries, before }) => [`nennt ${entries} Aussteller, vorher ${before}`, showList(id)],
  list_number_back: ({ id, sequence, before }) => [`hat die Nummer ${sequence}, vorher ${before}`, showList(id)],
  list_for_tests: ({ id, name }) => [
    `nennt sich selbst Testliste (${name})`,
    `Entfernen Sie sie: vidimus trust source remove ${id}`,
  ],
  status_lists_elsewhere: 'Nur der Dienst kann die Statuslisten prüfen, die er benutzt: siehe Dashboard, Einstellungen, Zustand.',
  status_lists_own: ({ count }) =>
    `Status- und Sperrlisten, die der Dienst seit seinem Start gelesen hat: ${count} der eigenen Sandbox oder dieser Maschine, keine anderer Aussteller.`,
  status_lists_missed: ({ missed }) => [
    `Status- oder Sperrlisten sind nicht lesbar von ${missedOf(missed)}: Ausweise, die sie nennen, werden vielleicht abgelehnt (status_unknown, issuer_status_unknown).`,
    'Lassen Sie diese Maschine dorthin verbinden (Firewall, DNS, Proxy); für eine private Stelle setzen Sie VIDIMUS_EXTRA_CA.',
  ],
  status_lists_reached: ({ origins }) => `Die Server der benutzten Status- und Sperrlisten sind erreichbar: ${some(origins)}.`,
  status_lists_ended: ({ lists }) => [
    `Listen widerrufener Ausweise sind abgelaufen: ${someAt(lists)}. Ausweise, die sie nennen, werden abgelehnt.`,
    refreshStatus,
  ],
  status_lists_old: ({ lists, hours }) => [
    `Listen widerrufener Ausweise sind fast oder schon zu alt: ${someAt(lists)}. Dieser Dienst nimmt keine, die älter ist als ${hours} Stunden.`,
    refreshStatus,
  ],
  status_lists_kept: ({ count, hours, until }) =>
    `Ohne neuere zu benutzen für ${hours} Stunden: ${count === 1 ? 'eine Liste' : `${count} Listen`} widerrufener Ausweise; die erste ist zu alt am ${until}.`,
  status_lists_offline: ({ lists }) => [
    `Ausweise der Aussteller auf ${some(lists)} nennen Statuslisten, und diese Maschine erreicht das Internet nicht: Sie enden als status_unknown.`,
    'Lassen Sie diese Maschine zu den Ausstellern verbinden (Firewall, DNS, Proxy), oder nehmen Sie Ausweise ohne Statuslisten an.',
  ],
  no_webhooks: ['Es wurde noch kein Webhook gesendet, und keine Adresse ist gesetzt.', setEndpoint],
  no_endpoint: ({ deliveries, attempts }) => [
    `Keine Adresse ist mehr gesetzt. Versuche der neuesten Zustellungen (${deliveries}): ${attempts}.`,
    setEndpoint,
  ],
  receivers_missed: ({ missed }) => [
    `Empfänger von Webhooks sind nicht erreichbar: ${missedOf(missed)}.`,
    'Bringen Sie den Empfänger in Ordnung; für einen im eigenen Netz setzen Sie VIDIMUS_EGRESS_ALLOW, und VIDIMUS_EXTRA_CA für seine Stelle.',
  ],
  webhooks_failing: ({ origins }) => [
    `Webhooks der letzten 24 Stunden scheiterten bei ${some(origins)}.`,
    'Die Gründe stehen im Dashboard unter Webhooks; dort lassen sie sich wiederholen.',
  ],
  receivers_reached: ({ origins }) => `Die Empfänger sind erreichbar: ${some(origins)}. Diese Prüfung hat ihnen nichts gesendet.`,
  extra_ca_unused: 'Webhooks und Statuslisten vertrauen nur den Stellen des Systems.',
  extra_ca_ending: ({ authorities }) => [
    `Stellen aus VIDIMUS_EXTRA_CA laufen bald ab oder sind abgelaufen: ${some(authorities)}.`,
    'Tragen Sie gültige in die Datei ein, und starten Sie den Dienst neu.',
  ],
  extra_ca_good: ({ authorities }) => `Webhooks und Statuslisten vertrauen auch ${some(authorities)}.`,
  chain_shortened: ({ dropped }) => `Aus der Kette weggelassen, weil Wallets es haben: ${dropped.join('; ')}.`,
  profile_broken: ({ broken }) =>
    `Das Zertifikat hält sich nicht an das Profil der Zugangszertifikate (${broken.map(rule => flaws[rule]).join(', ')}); EU-Wallets lehnen es vielleicht ab.`,
  authority_unlisted: 'Das Zertifikat führt zu keiner der Stellen auf der geladenen Liste; EU-Wallets werden es ablehnen.',
  registration_of_old_type: 'Es ist vom älteren deutschen Typ rc-rp+jwt; bitten Sie die Registerstelle um rc-wrp+jwt.',
  registration_empty: 'Es registriert keine Nachweise, Wallets werden also vor allem warnen, wonach gefragt wird.',
  registration_later: ({ from }) => `Es zählt ab ${from}.`,
  registration_too_long: 'Es gilt länger als zwölf Monate.',
  organization_unknown:
    'Das Zertifikat, das Wallets sehen, nennt keine Organisation; die beiden ließen sich also nicht vergleichen.',
  registration_foreign: ({ subject, organization }) =>
    `Es gehört ${subject}, das Zertifikat, das Wallets sehen, aber ${organization}: Es wird nicht gesendet.`,
}
