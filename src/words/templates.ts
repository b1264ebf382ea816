// Titles and purposes of the built-in templates. Callers of the API, wallets and pages show them, so this runs on either side.
import type { Language } from './languages.ts'

export type Localized = Readonly<Record<'en' | 'de', string>>

/** Of a shop's own template: where its title or purpose is not in its shop's language. */
export type Translations = { readonly [Each in Language]?: { readonly title?: string; readonly purpose?: string } }

/** The title for staff, who read the shop's language where theirs is missing. */
export const titleIn = (title: string, translations: Translations | null): Localized => ({
  en: translations?.en?.title ?? title,
  de: translations?.de?.title ?? title,
})

type Words = { readonly title: Localized; readonly purpose: Localized }

export const purposeOfAge = (years: number): Localized => ({
  en: `To check that you are ${years} or over`,
  de: `Um zu prüfen, ob Sie mindestens ${years} Jahre alt sind`,
})

const ofAge = (years: number): Words => ({
  title: { en: `Age ${years} or over`, de: `Ab ${years} Jahren` },
  purpose: purposeOfAge(years),
})

export type Format = 'dc+sd-jwt' | 'mso_mdoc'

export const FORMAT_NAMES: Readonly<Record<Format, string>> = { 'dc+sd-jwt': 'SD-JWT', mso_mdoc: 'mdoc' }

/** The title of a template that is asked for in one format. */
export const inFormat = ({ en, de }: Localized, format: Format): Localized => ({
  en: `${en} (${FORMAT_NAMES[format]} only)`,
  de: `${de} (nur ${FORMAT_NAMES[format]})`,
})

export const TEMPLATE_WORDS = {
  age_over_16: ofAge(16),
  age_over_18: ofAge(18),
  age_over_21: ofAge(21),
  age_over_65: ofAge(65),
  eu_av_age_18: { title: { en: 'Age 18 or over (EU age app)', de: 'Ab 18 Jahren (EU-Alters-App)' }, purpose: purposeOfAge(18) },
  age_over_18_photo: {
    title: { en: 'Age 18 or over, with photo', de: 'Ab 18 Jahren, mit Foto' },
    purpose: {
      en: 'To check that you are 18 or over and that the document is yours',
      de: 'Um zu prüfen, ob Sie mindestens 18 Jahre alt sind und der Ausweis Ihnen gehört',
    },
  },
  age_over_18_or_birthdate: {
    title: { en: 'Age 18 or over, else date of birth', de: 'Ab 18 Jahren, sonst Geburtsdatum' },
    purpose: purposeOfAge(18),
  },
  identity_basic: {
    title: { en: 'Name and date of birth', de: 'Name und Geburtsdatum' },
    purpose: { en: 'To check who you are', de: 'Um zu prüfen, wer Sie sind' },
  },
  pid_mandatory: {
    title: { en: 'Full identity', de: 'Vollständige Identität' },
    purpose: { en: 'To establish your identity', de: 'Um Ihre Identität festzustellen' },
  },
  address: {
    title: { en: 'Name and address', de: 'Name und Anschrift' },
    purpose: { en: 'To check where you live', de: 'Um zu prüfen, wo Sie wohnen' },
  },
  country: {
    title: { en: 'Country', de: 'Land' },
    purpose: { en: 'To check which country you are from', de: 'Um zu prüfen, aus welchem Land Sie kommen' },
  },
  driving_licence: {
    title: { en: 'Driving licence', de: 'Führerschein' },
    purpose: { en: 'To check your driving licence', de: 'Um Ihren Führerschein zu prüfen' },
  },
  may_drive: {
    title: { en: 'May drive', de: 'Fahrerlaubnis' },
    purpose: { en: 'To check what you are allowed to drive', de: 'Um zu prüfen, was Sie fahren dürfen' },
  },
  photo_id: {
    title: { en: 'Photo ID', de: 'Lichtbildausweis' },
    purpose: {
      en: 'To check who you are and that the document is yours',
      de: 'Um zu prüfen, wer Sie sind und ob der Ausweis Ihnen gehört',
    },
  },
} satisfies Record<string, Words>
