// What to do about a text that is refused for its characters: after the name of the text and a colon.
import type { Localized } from './templates.ts'

export const TEXT_WORDS = {
  line_break: {
    en: 'remove line breaks and control characters',
    de: 'Entfernen Sie Zeilenumbrüche und Steuerzeichen.',
  },
  direction: {
    en: 'remove characters that change the direction of text',
    de: 'Entfernen Sie Zeichen, die die Schreibrichtung ändern.',
  },
  invisible: {
    en: 'remove invisible characters, such as spaces without a width',
    de: 'Entfernen Sie unsichtbare Zeichen, zum Beispiel Leerzeichen ohne Breite.',
  },
  empty: { en: 'it needs at least one visible character', de: 'Mindestens ein Zeichen muss sichtbar sein.' },
} as const satisfies Record<string, Localized>

export type TextFlaw = keyof typeof TEXT_WORDS
