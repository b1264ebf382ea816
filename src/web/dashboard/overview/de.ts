import type * as en from './en.ts'

export const overview: typeof en.overview = {
  title: 'Überblick',
  usedOf: (used, quota) => `Heute: ${used} von ${quota} Prüfungen.`,
  left: left => `Noch ${left} bis Mitternacht UTC.`,
  usedUp: 'Bis Mitternacht UTC aufgebraucht.',
  bothCount: 'Test und Live zählen zusammen.',
  chart: days => `Die letzten ${days} Tage`,
  range: 'Zeitraum',
  days: days => `${days} Tage`,
  chartLabel: (total, most) =>
    `Ergebnisse je Tag: insgesamt ${total}, höchstens ${most} an einem Tag. Pfeiltasten wechseln den Tag, Enter öffnet seine Liste.`,
  asTable: 'Als Tabelle',
  day: 'Tag',
  counted: names =>
    `„${names.failed}“ zählt „${names.wallet_error}“ und „${names.not_same_person}“ mit, „${names.expired}“ zählt „${names.redirect_not_followed}“ und „${names.not_compared}“ mit. „${names.cancelled}“ zählt nicht.`,
  successRate: 'Erfolgsquote',
  ofAllAsked: 'von allen Gefragten',
  about: time => `etwa ${time}`,
  byTemplate: 'Nach Vorlage',
  byTill: 'Nach Kasse',
  template: 'Vorlage',
  till: 'Kasse',
  byKeys: 'Ihre Software',
  median: 'Mittlere Zeit bis zur Antwort',
  reasons: 'Warum Prüfungen abgelehnt wurden',
  noReasons: days => `In den letzten ${days} Tagen wurde keine abgelehnt.`,
  reason: 'Grund',
  count: 'Prüfungen',
  firstSteps: {
    title: 'Erste Schritte',
    done: 'erledigt',
    tried: {
      title: 'In der Sandbox ausprobieren',
      more: 'Starten Sie eine Testprüfung und beantworten Sie sie mit der Sandbox-Wallet. Ein echter Ausweis ist nicht nötig.',
      action: 'Ausprobieren',
    },
    paired: {
      title: 'Eine Kasse koppeln',
      more: 'Eine Kasse fragt an der Theke.',
      action: 'Kasse koppeln',
    },
    called: {
      title: 'Die API nutzen',
      more: 'Mit einem Schlüssel fragt Ihre eigene Software. Eine Kasse oder die API genügt.',
      action: 'Schlüssel anlegen',
    },
    received: {
      title: 'Einen Webhook empfangen',
      more: 'Legen Sie eine Adresse für dieses Geschäft fest; jedes Ergebnis wird dorthin geschickt.',
      action: 'Adresse festlegen',
    },
    live: {
      title: 'Live gehen',
      more: 'Sehen Sie, was bis zur ersten echten Kundschaft fehlt.',
      action: 'Live gehen',
    },
  },
  attention: 'Braucht Ihre Aufmerksamkeit',
  calm: 'Alles in Ordnung.',
  health: 'Zustand der Installation',
  recent: 'Letzte Prüfungen',
  all: 'Alle Prüfungen',
  emptyTitle: 'Fragen Sie nach dem ersten Nachweis',
  empty:
    'Eine Prüfung fragt die Wallet der Kundin oder des Kunden nach genau dem, was Sie brauchen, und sagt Ihnen, ob es stimmt. Versuchen Sie hier eine mit der Sandbox-Wallet, oder machen Sie eine mit Ihrer eigenen Software.',
  attentions: {
    no_trust_anchors: {
      sentence: 'Noch gilt kein Aussteller, also wird jede Prüfung in Live abgelehnt.',
      action: 'Aussteller hinzufügen',
    },
    trust_anchor_expires: {
      sentence: (label, when) =>
        `Das Zertifikat des Ausstellers „${label}“ endet ${when}. Danach werden seine Ausweise abgelehnt.`,
      action: 'Aussteller ansehen',
    },
    trust_list_stale: {
      sentence: (label, when) => `Die Liste „${label}“ ist veraltet. Ihre Aussteller zählen bis ${when}.`,
      action: 'Liste ansehen',
    },
    trust_list_ended: {
      sentence: label => `Die Liste „${label}“ ist abgelaufen. Ausweise ihrer Aussteller werden abgelehnt.`,
      action: 'Liste ansehen',
    },
    trust_list_refused: {
      sentence: (label, when) => `Von der Liste „${label}“ konnte seit ${when} keine neue Ausgabe übernommen werden.`,
      action: 'Liste ansehen',
    },
    trust_signer_changed: {
      sentence: label =>
        `Die Liste „${label}“ hat einen neuen Signierer. Vergleichen Sie ihn, und bestätigen Sie ihn, wenn er stimmt.`,
      action: 'Liste ansehen',
    },
    certificate_self_made: {
      sentence: 'Wallets sehen ein Zertifikat, das sich dieser Dienst selbst gemacht hat. Die meisten öffentlichen lehnen es ab.',
      action: 'Zertifikat besorgen',
    },
    certificate_expires: {
      sentence: when => `Das Zertifikat, das Wallets sehen, endet ${when}. Danach antwortet keine Wallet.`,
      action: 'Erneuern',
    },
    registration_ends: {
      sentence: (label, when) => `Das Registrierungszertifikat „${label}“ endet ${when}. Danach warnen Wallets.`,
      action: 'Ersetzen',
    },
    quota_nearly_used: {
      sentence: (used, quota) => `${used} der ${quota} Prüfungen für heute sind verbraucht.`,
      action: 'Kontingent ansehen',
    },
    public_url_not_https: {
      sentence: url => `Die öffentliche Adresse ${url} ist nicht https. Die meisten Wallets lehnen sie ab.`,
      action: 'Installation ansehen',
    },
    public_url_local: {
      sentence: url => `Telefone erreichen ${url} nicht: So heißt nur dieser Rechner für sich selbst.`,
      action: 'Installation ansehen',
    },
    token_copied: {
      sentence: (name, when) =>
        `Ein kopiertes Token der Kasse „${name}“ wurde ${when} benutzt, deshalb ist sie gesperrt. Koppeln Sie sie neu.`,
      action: 'Kassen ansehen',
    },
    pairing_lapsed: {
      sentence: name => `Die Kasse „${name}“ wurde nie gekoppelt, und ihr Code ist abgelaufen.`,
      action: 'Kassen ansehen',
    },
    webhook_failing: {
      sentence: (origin, { failed, waiting }) => {
        const parts = [
          failed > 0 && `${failed} fehlgeschlagen`,
          waiting > 0 && (waiting === 1 ? '1 wird erneut versucht' : `${waiting} werden erneut versucht`),
        ]
        return `${origin} nimmt keine Ereignisse an. ${parts.filter(Boolean).join(', ')}.`
      },
      action: 'Zustellungen ansehen',
    },
  },
}
