import type * as en from './en.ts'

export const goLive: typeof en.goLive = {
  title: 'Live gehen',
  intro: 'Was bis zur ersten echten Kundschaft noch fehlt. Der Dienst prüft jeden Schritt selbst.',
  question: 'Wo ist Ihr Geschäft, und was soll nachgewiesen werden?',
  questionMore: 'Wählen Sie alles, was Sie annehmen möchten. Sie können es jederzeit ändern.',
  regions: {
    eu: 'Europäische Union',
    us: 'Vereinigte Staaten',
    ch: 'Schweiz',
    elsewhere: 'Anderswo',
  },
  swiss: 'Die Schweizer Wallet swiyu lässt sich heute nicht anbinden: Dieser Dienst spricht ihr Vertrauensprotokoll noch nicht.',
  documents: {
    eu_age: { title: 'EU-Alters-App', hint: 'Belegt ein Alter und sonst nichts. Geschäfte brauchen keine Registrierung.' },
    eu_wallet: {
      title: 'EU-Wallet',
      hint: 'Identitätsdaten (PID). Sie registrieren sich vorher in Ihrem Land; das dauert Tage.',
    },
    us_licence: { title: 'US-Führerschein', hint: 'Mobile Führerscheine der Bundesstaaten.' },
    other: { title: 'Etwas anderes', hint: 'Ausweise anderer Aussteller, deren Zertifikate Sie selbst hinzufügen.' },
  },
  show: 'Schritte anzeigen',
  missing: 'Wählen Sie mindestens eines.',
  accepts: 'Sie möchten annehmen',
  change: 'Ändern',
  progress: (done, all) => `${done} von ${all} Schritten sind erledigt.`,
  allDone: 'Sie sind live. Diese Seite behält Zertifikate und Listen weiter im Auge.',
  stepsLabel: 'Schritte zum Live-Gang',
  states: { done: 'Erledigt', to_do: 'Zu tun', waiting: 'Wartet', not_needed: 'Nicht nötig', problem: 'Problem' },
  owner: 'Das macht ein Inhaber dieser Installation.',
  purposes: {
    caption: 'Zwecke der Vorlagen',
    more: 'Wallets zeigen beide Zwecke. Sie sollten dasselbe sagen.',
    template: 'Vorlage',
    own: 'Ihr Zweck',
    registered: 'Registrierter Zweck',
    each: 'Wie bei jeder Prüfung angegeben',
  },
  help: 'Mehr im Handbuch (auf Englisch)',
  retention: {
    days: 'Tage aufbewahren',
    hint: 'Nach dem Ende einer Prüfung. Dann wird sie von selbst endgültig gelöscht; die Zahlen bleiben.',
    problem: 'Eine ganze Zahl von 0 bis 3.650.',
    keep: days => (days === '1' ? 'Einen Tag aufbewahren' : `${days} Tage aufbewahren`),
    forever: 'Aufbewahren, bis jemand löscht',
  },
  authoritiesRead: 'Gelesen im November 2026. Sehen Sie dort nach, was sich seither geändert hat.',
  authorities: {
    identity: {
      eu_wallet: {
        text: 'Ein Zugangszertifikat. Die Zugangsstelle Ihres Landes stellt es aus, wenn Sie dort registriert sind: Laden Sie den Antrag von der nächsten Seite in ihr Portal. Die Kommission führt diese Stellen auf:',
        link: 'https://trust.tech.ec.europa.eu/lists/eudiw/wrpac-providers.json',
      },
      us_licence: {
        text: 'Jede Wallet entscheidet, wessen Zertifikat sie annimmt: Fragen Sie ihren Hersteller. Apple verlangt ein eigenes Händlerzertifikat.',
      },
      other: { text: 'Fragen Sie die Hersteller der Wallets, welche Stellen sie annehmen.' },
    },
    registration: {
      eu_wallet: {
        text: 'Die Registrierungsstelle Ihres Landes, die auch zum Zugangszertifikat führt. Sie stellt je Zweck eine Registrierung aus. Zum Ausprobieren die deutsche Sandbox:',
        link: 'https://bmi.usercontent.opencode.de/eudi-wallet',
      },
    },
    issuers_test: {
      eu_age: { text: 'Die Testliste der Europäischen Kommission für Altersnachweise. Nichts zu beantragen.' },
      eu_wallet: { text: 'Die Testliste der Europäischen Kommission für Identitätsdaten (PID). Nichts zu beantragen.' },
      us_licence: {
        text: 'Es gibt keine Testliste: Fügen Sie das Zertifikat des Bundesstaats hinzu, dessen Testführerschein Sie haben.',
      },
      other: { text: 'Der Aussteller selbst veröffentlicht sein Zertifikat.' },
    },
    issuers_live: {
      eu_age: {
        text: 'Die Liste der Europäischen Kommission für Altersnachweise. Nichts zu beantragen. Vergleichen Sie, wer sie signiert:',
        link: 'https://eidas.ec.europa.eu/efda',
      },
      eu_wallet: {
        text: 'Die Liste der Europäischen Kommission für Identitätsdaten (PID). Nichts zu beantragen. Vergleichen Sie, wer sie signiert:',
        link: 'https://eidas.ec.europa.eu/efda',
      },
      us_licence: {
        text: 'AAMVA, der Verband der Zulassungsbehörden: Lesen Sie zuerst seine Bedingungen. Staaten, die nicht auf der Liste stehen, veröffentlichen ihr Zertifikat selbst.',
        link: 'https://vical.dts.aamva.org',
      },
      other: { text: 'Der Aussteller selbst veröffentlicht sein Zertifikat.' },
    },
  },
  steps: {
    address: { title: 'Telefone erreichen diesen Dienst', action: 'Prüfungen ansehen', done: 'Prüfungen ansehen' },
    identity: { title: 'Ein Zertifikat, dem Wallets vertrauen', action: 'Zertifikat besorgen', done: 'Zertifikat ansehen' },
    registration: {
      title: 'Registrierung Ihrer Abfragen',
      action: 'Registrierung hinzufügen',
      done: 'Registrierungen ansehen',
    },
    issuers_test: { title: 'Aussteller in Test', action: 'Aussteller in Test hinzufügen', done: 'Aussteller in Test ansehen' },
    first_test: { title: 'Erster Test mit echter Wallet', action: 'Test starten', done: 'Prüfungen in Test ansehen' },
    issuers_live: { title: 'Aussteller in Live', action: 'Aussteller in Live hinzufügen', done: 'Aussteller in Live ansehen' },
    eu_profile: { title: 'Anfragen, die EU-Wallets annehmen', action: 'Regeln ansehen', done: 'Regeln ansehen' },
    keys: { title: 'Ein Live-Schlüssel oder eine Kasse', action: 'Live-Schlüssel anlegen', done: 'Live-Schlüssel ansehen' },
    first_live: { title: 'Erste Prüfung in Live', action: 'Prüfungen in Live ansehen', done: 'Prüfungen in Live ansehen' },
    renewals: { title: 'Erneuerungen', action: 'Prüfungen ansehen', done: 'Prüfungen ansehen' },
    retention: { title: 'Wie lange bewahren Sie Ergebnisse auf?', action: 'Wählen', done: 'Aufbewahrung ansehen' },
  },
  reasons: {
    reached: ({ names }) => `Telefone erreichen ${names} über https.`,
    address_local: ({ names }) =>
      `Kein Telefon erreicht ${names}: So heißt nur dieser Rechner für sich selbst. Geben Sie dem Dienst einen öffentlichen Namen mit https, und setzen Sie VIDIMUS_PUBLIC_URL darauf.`,
    address_plain: ({ names }) =>
      `${names} ist unverschlüsseltes http, das die meisten Wallets ablehnen. Stellen Sie einen TLS-Proxy davor, oder setzen Sie VIDIMUS_TLS_CERT.`,
    address_unsound: ({ names }) => `${names} funktioniert für Telefone noch nicht.`,
    identity_not_needed: () => 'Die EU-Alters-App verlangt von Geschäften kein Zertifikat.',
    identity_valid: ({ names, when }) => `Wallets sehen ein Zertifikat von ${names}, gültig bis ${when}.`,
    identity_self_made: () =>
      'Wallets sehen ein Zertifikat, das sich dieser Dienst selbst gemacht hat. Erstellen Sie einen Antrag, schicken Sie ihn an eine Stelle, der Ihre Wallets vertrauen, und installieren Sie die Antwort.',
    identity_requested: ({ when }) => `Der Antrag ist vom ${when}. Installieren Sie das Zertifikat, wenn die Stelle es schickt.`,
    identity_scheduled: ({ names, when }) => `Das Zertifikat von ${names} übernimmt am ${when}.`,
    identity_unsound: () => 'Wallets lehnen das Zertifikat ab, das sie sehen.',
    registration_not_needed: () => 'Nur EU-Wallets verlangen eine Registrierung.',
    registered: () => 'Alles, wonach Sie EU-Wallets fragen, ist registriert.',
    registration_missing: () =>
      'EU-Wallets warnen vor Geschäften, die mehr abfragen, als sie registriert haben. Registrieren Sie Ihre Abfragen in Ihrem Land, und fügen Sie das Zertifikat hinzu, das Sie bekommen.',
    registration_beyond: ({ names }) => `Wallets werden warnen, dass diese Vorlagen mehr abfragen als registriert: ${names}.`,
    registration_unsound: () =>
      'Ihr Registrierungszertifikat ist abgelaufen, oder es gehört einer anderen Stelle als das Zertifikat, das Wallets sehen.',
    issuers_named: ({ documents }) => `Sie vertrauen Ausstellern für: ${documents}.`,
    issuers_missing: ({ documents }) => `Sie vertrauen noch keinem Aussteller für: ${documents}.`,
    issuers_ended: ({ names }) => `Die Liste „${names}“ ist abgelaufen; ihre Aussteller zählen nicht mehr.`,
    eu_profile_not_needed: () => 'Nur EU-Wallets prüfen Anfragen danach.',
    eu_profile_failing: ({ names }) => `EU-Wallets lehnen Ihre Anfragen vielleicht ab, und zwar wegen: ${names}.`,
    eu_profile_holds: () => 'Ihre Anfragen enthalten alles, was EU-Wallets darin finden müssen.',
    tested: ({ when }) => `Ein Ausweis eines echten Ausstellers wurde am ${when} in Test geprüft.`,
    not_tested: () =>
      'Starten Sie eine Prüfung in Test, und beantworten Sie sie mit einer Wallet, die einen Ausweis eines Ihrer Aussteller hat.',
    may_ask: ({ names }) => `In Live fragen dürfen: ${names}.`,
    no_key: () => 'Legen Sie einen Live-Schlüssel für Ihre Software an, oder koppeln Sie eine Kasse in Live.',
    went_live: ({ when }) => `Die erste Prüfung in Live wurde am ${when} abgeschlossen.`,
    not_live: () => 'Fragen Sie die erste Person, oder versuchen Sie es mit einem eigenen Ausweis.',
    renewals_later: () =>
      'Noch ist nichts zu erneuern. Listen und Zertifikate werden ab dem ersten Aussteller in Live im Auge behalten.',
    renewals_fine: () => 'In den nächsten 30 Tagen endet nichts.',
    ends_soon: ({ names, when }) => `„${names}“ endet am ${when}. Erneuern Sie es vorher.`,
    has_ended: ({ names, when }) => `„${names}“ ist am ${when} abgelaufen.`,
    list_failing: ({ names, when }) => `Die Liste „${names}“ wurde seit dem ${when} nicht mehr aktualisiert.`,
    kept_days: ({ names }) => `Ergebnisse werden ${names} Tage nach ihrem Ende gelöscht.`,
    kept_until_erased: () => 'Ergebnisse bleiben, bis jemand sie löscht.',
    retention_open: () =>
      'Heute bleiben Ergebnisse für immer. Bewahren Sie persönliche Daten nur so lange auf wie nötig: Den meisten Geschäften reichen 30 Tage.',
  },
}
