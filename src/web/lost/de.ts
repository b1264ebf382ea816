import type * as en from './en.ts'

export const lost: typeof en.lost = {
  title: 'Diese Seite gibt es nicht.',
  more: 'Die Adresse ist unvollständig oder falsch geschrieben, oder die Seite ist umgezogen.',
  bare: 'Ohne den Schrägstrich am Ende',
  home: 'Zur Startseite',
  handbook: 'Zum Handbuch',
}
