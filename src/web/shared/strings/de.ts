// Alle deutschen Wörter der Seiten; die Form gibt en.ts vor.
import type * as en from './en.ts'

export const common: typeof en.common = {
  close: 'Schließen',
  cancel: 'Abbrechen',
  back: 'Zurück',
  reload: 'Neu laden',
  again: 'Noch einmal versuchen',
  copy: what => `${what} kopieren`,
  copied: 'Kopiert',
  marked: 'Markiert: mit der Tastatur kopieren',
  shownOnce: 'Es wird nur dieses eine Mal angezeigt. Jetzt kopieren.',
  command: 'Befehl',
  orByCommand: 'Oder auf der Befehlszeile:',
  loading: 'Lädt',
  unreachable: 'Der Dienst antwortet nicht. Prüfen Sie das Netz; diese Seite versucht es von selbst wieder.',
  broken: 'Auf dieser Seite ist etwas schiefgegangen. Auf dem Server ist nichts verloren.',
  testLabel: 'Testumgebung',
  testBand: 'Test: Hier gelten nur Sandbox-Ausweise.',
  scan: 'Mit der Kamera scannen',
  stopScan: 'Kamera ausschalten',
  viewfinder: 'Bild der Kamera: Halten Sie den Code hinein',
  cameraRefused: 'Die Kamera darf nicht benutzt werden. Erlauben Sie sie im Browser, oder tippen Sie den Code ein.',
  statuses: { pending: 'Wartet', completed: 'Geprüft', failed: 'Abgelehnt', expired: 'Abgelaufen' },
}

export const outcomes: typeof en.outcomes = {
  wallet_declined: {
    sentence: 'Die Kundin oder der Kunde wollte nicht teilen.',
    meaning: 'Die Wallet wurde gefragt und es kam ein Nein, oder der Ausweis fehlt: Wallets verraten nicht, was davon.',
    remedy: 'Fragen Sie, ob ein neuer Versuch gewünscht ist, oder verlangen Sie einen anderen Ausweis.',
  },
  wallet_error: {
    sentence: 'Die Wallet konnte nicht antworten.',
    meaning: 'Die Wallet meldete einen Fehler statt eines Ausweises.',
    remedy: 'Fangen Sie neu an. Passiert es wieder, versuchen Sie eine andere Wallet.',
  },
  presentation_malformed: {
    sentence: 'Die Antwort der Wallet ist nicht lesbar.',
    meaning: 'Was ankam, ist kein richtig aufgebauter Ausweis.',
    remedy: 'Fangen Sie neu an. Passiert es wieder, hält sich die Wallet nicht an den Standard.',
  },
  signature_invalid: {
    sentence: 'Dieser Ausweis wurde verändert oder nicht von seinem Aussteller unterschrieben.',
    meaning: 'Die Unterschrift des Ausstellers deckt nicht, was vorgelegt wurde.',
    remedy: 'Nicht anerkennen. Verlangen Sie einen anderen Ausweis.',
  },
  holder_binding_invalid: {
    sentence: 'Es ist nicht bewiesen, dass dieser Ausweis der Person gehört, die ihn vorlegt.',
    meaning: 'Der Beweis, dass die Wallet den Schlüssel dieses Ausweises hat, fehlt oder gilt nicht für diese Anfrage.',
    remedy: 'Nicht anerkennen. Fangen Sie neu an, oder verlangen Sie einen anderen Ausweis.',
  },
  issuer_untrusted: {
    sentence: 'Der Ausweis ist lesbar, aber sein Aussteller steht nicht auf Ihrer Liste.',
    meaning: 'Der Ausweis ist in Ordnung, doch niemand hat gesagt, dass sein Aussteller hier gilt.',
    remedy: 'Fügen Sie den Aussteller unter Vertrauen hinzu, oder verlangen Sie einen anderen Ausweis.',
  },
  credential_expired: {
    sentence: 'Dieser Ausweis ist abgelaufen.',
    meaning: 'Das Datum, bis zu dem er gilt, ist vorbei.',
    remedy: 'Verlangen Sie einen gültigen Ausweis.',
  },
  credential_not_yet_valid: {
    sentence: 'Dieser Ausweis gilt noch nicht.',
    meaning: 'Das Datum, ab dem er gilt, liegt in der Zukunft.',
    remedy: 'Verlangen Sie einen anderen Ausweis. Passiert es bei allen, prüfen Sie die Uhr dieses Servers.',
  },
  credential_revoked: {
    sentence: 'Der Aussteller hat diesen Ausweis zurückgezogen.',
    meaning: 'Seine Statusliste sagt, dass er widerrufen oder ausgesetzt ist.',
    remedy: 'Verlangen Sie einen anderen Ausweis. Den Grund kennt der Aussteller.',
  },
  status_unknown: {
    sentence: 'Es war nicht festzustellen, ob dieser Ausweis noch gilt.',
    meaning: 'Die Statusliste des Ausstellers war nicht zu holen oder nicht zu prüfen. Das zählt nie als Ja.',
    remedy: 'Prüfen Sie das Netz dieses Servers, und fangen Sie neu an.',
  },
  query_not_satisfied: {
    sentence: 'Etwas, wonach Sie gefragt haben, fehlt.',
    meaning: 'Die Ausweise sind in Ordnung, enthalten aber nicht alles.',
    remedy: 'Verlangen Sie einen anderen Ausweis, oder fragen Sie nach weniger.',
  },
  claim_not_satisfied: {
    sentence: 'Das Alter ist nicht bewiesen.',
    meaning: 'Der Ausweis ist in Ordnung, erfüllt aber nicht die Regel dieser Vorlage.',
    remedy: 'Es gilt als Nein.',
  },
  expired: {
    sentence: 'Die Zeit ist um. Fangen Sie neu an.',
    meaning: 'Niemand hat geantwortet, bevor die Sitzung endete.',
    remedy: 'Beginnen Sie eine neue.',
  },
}

export const checks: typeof en.checks = {
  format: 'Die Antwort ist ein richtig aufgebauter Ausweis.',
  issuer_signature: 'Der Aussteller hat diesen Ausweis unterschrieben.',
  digests: 'Geteilt wurde, was der Aussteller unterschrieben hat.',
  doctype: 'Der Ausweis ist von der verlangten Art.',
  holder_binding: 'Die Wallet hat für diese Anfrage bewiesen, dass der Ausweis ihr gehört.',
  validity: 'Heute liegt im Zeitraum, in dem der Ausweis gilt.',
  issuer_chain: 'Der Aussteller steht auf Ihrer Liste.',
  status: 'Der Aussteller hat ihn nicht zurückgezogen.',
  query: 'Alles, wonach gefragt wurde, ist da.',
  claims: 'Was er sagt, erfüllt die Regel der Vorlage.',
  environment: 'Test- und echte Ausweise bleiben getrennt.',
}

export const claims: typeof en.claims = {
  family_name: 'Nachname',
  given_name: 'Vornamen',
  birthdate: 'Geburtsdatum',
  place_of_birth: 'Geburtsort',
  nationalities: 'Staatsangehörigkeit',
  picture: 'Foto',
  birth_family_name: 'Geburtsname',
  birth_given_name: 'Vornamen bei der Geburt',
  date_of_expiry: 'Gültig bis',
  date_of_issuance: 'Ausgestellt am',
  issuing_authority: 'Ausstellende Behörde',
  issuing_country: 'Ausstellendes Land',
  document_number: 'Ausweisnummer',
  personal_administrative_number: 'Personennummer',
  sex: 'Geschlecht',
  email: 'E-Mail-Adresse',
  phone_number: 'Telefonnummer',
  driving_privileges: 'Was Sie fahren dürfen',
  un_distinguishing_sign: 'Länderkennung des Führerscheins',
  address: 'Anschrift',
  'address.formatted': 'Anschrift',
  'address.street_address': 'Straße',
  'address.house_number': 'Hausnummer',
  'address.locality': 'Ort',
  'address.region': 'Region',
  'address.postal_code': 'Postleitzahl',
  'address.country': 'Land des Wohnsitzes',
}

export const ageOver: typeof en.ageOver = years => `Dass Sie mindestens ${years} Jahre alt sind`

export const documents: typeof en.documents = {
  'urn:eudi:pid:1': 'EU-Personenausweisdaten (PID)',
  'urn:eudi:pid:de:1': 'Deutsche PID',
  'urn:eudi:pid:it:1': 'Italienische PID',
  'urn:eudi:pid:nl:1': 'Niederländische PID',
  'eu.europa.ec.eudi.pid.1': 'EU-Personenausweisdaten (PID)',
  'eu.europa.ec.av.1': 'EU-Altersnachweis',
  'org.iso.18013.5.1.mDL': 'Führerschein',
  'org.iso.23220.photoID.1': 'Lichtbildausweis',
  'org.iso.23220.photoid.1': 'Lichtbildausweis',
  'com.google.wallet.idcard.1': 'Google-ID-Pass',
}

export const hosted: typeof en.hosted = {
  title: who => `${who} bittet um einen Nachweis`,
  asks: 'bittet um einen Nachweis',
  why: 'Wozu',
  shares: 'Sie teilen',
  oneOf: 'Eines davon, je nach Ihrer Wallet',
  optional: 'Nur wenn Sie möchten',
  nothingElse: 'Mehr verlässt Ihre Wallet nicht. Sie entscheiden dort.',
  scan: 'Mit der Kamera Ihres Telefons oder mit Ihrer Wallet scannen',
  qrLabel: 'QR-Code, der diese Anfrage in Ihrer Wallet öffnet',
  open: 'Wallet öffnen',
  openHere: 'Meine Wallet ist auf diesem Gerät',
  otherDevice: 'Meine Wallet ist auf einem anderen Gerät',
  left: time => `noch ${time}`,
  scanned: 'Wartet auf Ihre Zustimmung',
  scannedMore: 'Ihre Wallet hat die Anfrage. Antworten Sie dort; diese Seite folgt von selbst.',
  scannedAgain: 'Das war ich nicht, oder ich habe sie geschlossen: Code wieder zeigen',
  noWallet: 'Noch keine Wallet?',
  noWalletMore:
    'Eine Wallet ist eine App mit Nachweisen, die Ihr Staat oder andere ausstellen, etwa die EU-Brieftasche Ihres Landes. Installieren Sie sie, laden Sie einen Nachweis hinein, und kommen Sie zurück.',
  accepted: 'Hier gelten:',
  trySandbox: 'Mit der Sandbox-Wallet antworten',
  completed: 'Fertig. Danke.',
  completedMore: who => `${who} hat die Antwort. Sie können diese Seite schließen.`,
  failed: 'Das hat nicht geklappt.',
  reasons: {
    declined: 'In Ihrer Wallet wurde abgelehnt. Es wurde nichts weitergegeben.',
    wallet_error: 'Ihre Wallet konnte nicht antworten. Es wurde nichts weitergegeben.',
    not_accepted: 'Ihre Wallet hat geantwortet, aber die Antwort konnte nicht anerkannt werden.',
  },
  failedMore: who => `${who} kann Ihnen mehr sagen und mit Ihnen neu anfangen.`,
  expired: 'Die Zeit ist um.',
  expiredMore: who => `Es wurde nichts geteilt. Gehen Sie zurück zu ${who}, und fangen Sie neu an.`,
  gone: 'Hier ist nichts.',
  goneMore: 'Der Link ist unvollständig, oder die Anfrage wurde gelöscht. Gehen Sie dorthin zurück, wo Sie ihn bekommen haben.',
  backTo: who => `Zurück zu ${who}`,
  poweredBy: 'Geprüft von',
}

export const dashboard: typeof en.dashboard = {}
export const till: typeof en.till = {}
export const sandbox: typeof en.sandbox = {}
export const demo: typeof en.demo = {}
