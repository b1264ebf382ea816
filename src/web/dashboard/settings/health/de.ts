import type * as en from './en.ts'

export const health: typeof en.health = {
  title: 'Zustand',
  more: 'Was eine echte Wallet oder einen Webhook aufhalten würde, und was Ihre Daten gefährdet. Der Befehl „vidimus doctor“ meldet dasselbe auf Englisch.',
  again: 'Noch einmal prüfen',
  help: 'Mehr im Handbuch (auf Englisch)',
  looking: 'Wird geprüft',
  checked: 'Geprüft',
  fine: count => `${count} in Ordnung`,
  found: (problems, warnings, missing) => {
    if (problems + warnings + missing === 0) return 'Alles ist in Ordnung.'
    const notSetUp = missing === 1 ? 'Eins ist nicht eingerichtet.' : `${missing} Dinge sind nicht eingerichtet.`
    if (problems + warnings === 0) return `Nichts ist falsch. ${notSetUp}`
    const parts = [
      problems > 0 && (problems === 1 ? '1 Problem' : `${problems} Probleme`),
      warnings > 0 && (warnings === 1 ? '1 Warnung' : `${warnings} Warnungen`),
    ]
    return `${parts.filter(Boolean).join(', ')}.`
  },
  eu: {
    title: 'EU-Wallets',
    more: shop =>
      `Was EU-Wallets in den Anfragen von ${shop} finden müssen und sollten. Sie werden dafür erstellt und geprüft, nichts wird gespeichert oder gesendet.`,
    statuses: { pass: 'Erfüllt', fail: 'Nicht erfüllt', not_applicable: 'Nicht nötig', unknown: 'Unbekannt' },
    levels: { must: 'muss', should: 'sollte' },
    check: 'Anfragen prüfen',
  },
  statuses: { not_set_up: 'Nicht eingerichtet', ok: 'In Ordnung', warning: 'Warnung', problem: 'Problem' },
  names: {
    server: 'Dienst',
    public_url: 'Öffentliche Adresse',
    tls: 'Zertifikat der öffentlichen Adresse',
    client_id: 'Name, den Wallets sehen',
    signing_certificate: 'Zertifikat, das Wallets sehen',
    registration: 'Registrierungszertifikate',
    dc_api: 'Wallets über den Browser',
    in_person: 'Handys vor Ort',
    openid_provider: 'Anmeldungen',
    trust_anchors: 'Vertraute Aussteller',
    trust_lists: 'Vertrauenslisten',
    status_lists: 'Statuslisten der Aussteller',
    webhooks: 'Empfänger von Webhooks',
    clock: 'Uhr',
    database: 'Datenbank',
    master_key: 'Hauptschlüssel',
    wrapping_keys: 'Sitzungsschlüssel',
    disk: 'Platz auf der Festplatte',
    backups: 'Sicherungen',
    open_files: 'Gleichzeitige Verbindungen',
    second_factor: 'Zweiter Faktor der Eigentümer',
    extra_ca: 'Zusätzliche Zertifizierungsstellen',
    mail: 'E-Mail an Eigentümer',
  },
}
