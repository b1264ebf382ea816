import { flaws } from '../findings/de.ts'
import type { ClauseWords } from './say.ts'

const renewAccess =
  'Beantragen Sie eines mit „vidimus signing csr --new-key“, und installieren Sie es mit „vidimus signing import“.'
const addRegistration = 'Holen Sie eines bei Ihrer Registerstelle, und fügen Sie es mit „vidimus registration add FILE“ hinzu.'
const plain = 'Entfernen Sie VIDIMUS_WALLET_PROFILE und das Profil „plain“ der Vorlage.'
const importAccess = 'Importieren Sie ein Zugangszertifikat, und entfernen Sie VIDIMUS_DC_API und VIDIMUS_READER_AUTH.'
const addList =
  'Fügen Sie die Liste dieser Aussteller hinzu („vidimus trust source add“), und entfernen Sie von Hand hinzugefügte.'

export const clauses: ClauseWords = {
  rules: {
    'eu.redirect.signed': ['Links führen zu einem Anfrageobjekt, das mit ES256 signiert ist.'],
    'eu.redirect.header-iat': ['Der Kopf des Anfrageobjekts wiederholt dessen iat.'],
    'eu.redirect.x5c': ['Die Kette beginnt mit dem, der signiert, und enthält keinen Vertrauensanker.', renewAccess],
    'eu.client-id': ['Die client_id ist der x509_hash des Zugangszertifikats.', 'Entfernen Sie VIDIMUS_CLIENT_ID.'],
    'eu.access-certificate': ['Das Zugangszertifikat ist gültig und von einer gelisteten Stelle.', renewAccess],
    'eu.access-profile': ['Das Zugangszertifikat folgt ETSI TS 119 411-8.', 'Bitten Sie die Stelle um ein solches.'],
    'eu.registration': ['Jede Anfrage enthält genau ein Registrierungszertifikat.', addRegistration],
    'eu.registration.same-party': ['Die Registrierung nennt die Organisation des Zugangszertifikats.', addRegistration],
    'eu.registration.scope': [
      'Die Registrierung deckt alles ab, was angefragt wird.',
      'Registrieren Sie den Rest, oder fragen Sie weniger an.',
    ],
    'eu.registration.current': ['Die Registrierung gilt heute, höchstens ein Jahr, und ist nicht widerrufen.', addRegistration],
    'eu.registration.data-form': ['Die Registrierung kommt als jwt (das lesen EU-Wallets) oder base64url (Wortlaut von ETSI).'],
    'eu.metadata.keys': ['Die Anfrage nennt einen P-256-Schlüssel und beide Verfahren von HAIP.', plain],
    'eu.response.encrypted': ['Antworten sind verschlüsselt.', plain],
    'eu.aud': ['Der Empfänger (aud) ist https://self-issued.me/v2.'],
    'eu.expiry': ['Die Anfrage gilt jetzt und höchstens eine Stunde.', 'Prüfen Sie die Uhr dieses Rechners.'],
    'eu.link': ['Ein Link, der mit eu-eaap:// beginnt, wird angeboten.'],
    'eu.same-device': ['Prüfungen mit redirect_url werden durch sie freigegeben.', 'Geben Sie "release": "on_redeem" an.'],
    'eu.cross-device': [
      'Telefone werden auch ohne QR-Code gefragt.',
      'Senden Sie Browsern signierte Anfragen, oder lesen Sie vor Ort.',
    ],
    'eu.dc-api.signed': ['Browser erhalten eine signierte Anfrage.', importAccess],
    'eu.iso.reader-auth': ['Das Zugangszertifikat signiert jedes angefragte mdoc.', importAccess],
    'eu.iso.wrprc': ['Jedes angefragte mdoc trägt das Registrierungszertifikat.'],
    'eu.formats': ['Vorlagen für eine PID nehmen sie in beiden Formen.', 'Ergänzen Sie die Abfrage um die andere Form.'],
    'eu.trust.pid': ['Aussteller von PIDs stehen auf einer eigenen Liste.', addList],
    'eu.trust.mdl': ['Aussteller von Führerscheinen stehen auf einer eigenen Liste.', addList],
    'eu.revocation': [
      'Listen widerrufener Dokumente sind zu haben.',
      'Lassen Sie diesen Rechner sie erreichen, oder bringen Sie sie in einem Bündel und setzen Sie VIDIMUS_STATUS_MAX_AGE.',
    ],
    'eu.unlinkable-key': ['Keine zwei Anfragen haben denselben Schlüssel.'],
  },
  found: {
    ...flaws,
    self_made: 'von diesem Dienst selbst erzeugt',
    not_valid: 'heute nicht gültig',
    no_list: 'keine Liste von Zugangsstellen ist geladen',
    no_end: 'ohne Ende',
    revoked: 'widerrufen',
    unknown: 'seine Liste ist nicht lesbar',
    by_hand: 'einige wurden von Hand hinzugefügt',
    any_type: 'einigen wird für jede Art vertraut',
    first_only: 'nur das erste, weil alle zusammen 48 KiB überschreiten',
    nobody: 'niemand',
  },
  fault: 'Das ist ein Fehler des Dienstes: Bitte melden Sie ihn.',
  said: {
    pass: (rule, found) => (found === '' ? rule : `${rule} Gefunden: ${found}.`),
    fail: (rule, found, subject) => `${rule} Nicht so${subject ? ` bei ${subject}` : ''}${found && `: ${found}`}.`,
    unknown: (rule, found) => `${rule} Niemand kann das sagen: ${found}.`,
    not_applicable: rule => `${rule} Nichts in Benutzung braucht es.`,
  },
}
