import type * as en from './en.ts'

export const search: typeof en.search = {
  title: 'Suche',
  keys: 'Strg K',
  label: 'Bestellungen, Namen, Kennungen, Schlüssel, Vorlagen, Kassen und das Handbuch durchsuchen',
  placeholder: 'Bestellnummer, Name, Kennung, Schlüssel, Vorlage, Kasse, Handbuch',
  kinds: {
    verification: 'Prüfung',
    template: 'Vorlage',
    till: 'Kasse',
    key: 'API-Schlüssel',
    handbook: 'Handbuch',
  },
  results: count => (count === 1 ? '1 Treffer' : `${count} Treffer`),
  nothing: 'Nichts gefunden. Namen werden an ihren ersten Buchstaben gefunden: mindestens drei.',
  hint: 'Pfeiltasten wählen, Enter öffnet, Escape schließt.',
}
