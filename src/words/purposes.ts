// Purposes of the built-in templates in the languages that shoppers read beside those of staff.
import type { Language, StaffLanguage } from './languages.ts'
import { TEMPLATE_WORDS } from './templates.ts'

type Further = Readonly<Record<Exclude<Language, StaffLanguage>, string>>

const ofAge = (years: number): Further => ({
  es: `Para comprobar que tiene ${years} años o más`,
  fr: `Pour vérifier que vous avez ${years} ans ou plus`,
  it: `Per verificare che abbia almeno ${years} anni`,
  nl: `Om te controleren of u ${years} jaar of ouder bent`,
  pl: `Aby sprawdzić, czy masz co najmniej ${years} lat`,
})

const FURTHER: Readonly<Record<keyof typeof TEMPLATE_WORDS, Further>> = {
  age_over_16: ofAge(16),
  age_over_18: ofAge(18),
  age_over_21: ofAge(21),
  age_over_65: ofAge(65),
  eu_av_age_18: ofAge(18),
  age_over_18_photo: {
    es: 'Para comprobar que tiene 18 años o más y que el documento es suyo',
    fr: 'Pour vérifier que vous avez 18 ans ou plus et que le document est le vôtre',
    it: 'Per verificare che abbia almeno 18 anni e che il documento sia suo',
    nl: 'Om te controleren of u 18 jaar of ouder bent en of het document van u is',
    pl: 'Aby sprawdzić, czy masz co najmniej 18 lat i czy dokument jest Twój',
  },
  age_over_18_or_birthdate: ofAge(18),
  identity_basic: {
    es: 'Para comprobar quién es usted',
    fr: 'Pour vérifier qui vous êtes',
    it: 'Per verificare chi è',
    nl: 'Om te controleren wie u bent',
    pl: 'Aby sprawdzić, kim jesteś',
  },
  pid_mandatory: {
    es: 'Para establecer su identidad',
    fr: 'Pour établir votre identité',
    it: 'Per accertare la sua identità',
    nl: 'Om uw identiteit vast te stellen',
    pl: 'Aby ustalić Twoją tożsamość',
  },
  address: {
    es: 'Para comprobar dónde vive',
    fr: 'Pour vérifier où vous habitez',
    it: 'Per verificare dove abita',
    nl: 'Om te controleren waar u woont',
    pl: 'Aby sprawdzić, gdzie mieszkasz',
  },
  country: {
    es: 'Para comprobar de qué país es',
    fr: 'Pour vérifier de quel pays vous venez',
    it: 'Per verificare da quale Paese viene',
    nl: 'Om te controleren uit welk land u komt',
    pl: 'Aby sprawdzić, z jakiego kraju jesteś',
  },
  driving_licence: {
    es: 'Para comprobar su permiso de conducir',
    fr: 'Pour vérifier votre permis de conduire',
    it: 'Per verificare la sua patente di guida',
    nl: 'Om uw rijbewijs te controleren',
    pl: 'Aby sprawdzić Twoje prawo jazdy',
  },
  may_drive: {
    es: 'Para comprobar qué puede conducir',
    fr: 'Pour vérifier ce que vous pouvez conduire',
    it: 'Per verificare che cosa può guidare',
    nl: 'Om te controleren wat u mag besturen',
    pl: 'Aby sprawdzić, czym możesz kierować',
  },
  photo_id: {
    es: 'Para comprobar quién es usted y que el documento es suyo',
    fr: 'Pour vérifier qui vous êtes et que le document est le vôtre',
    it: 'Per verificare chi è e che il documento sia suo',
    nl: 'Om te controleren wie u bent en of het document van u is',
    pl: 'Aby sprawdzić, kim jesteś i czy dokument jest Twój',
  },
}

export const purposeOf = (template: keyof typeof TEMPLATE_WORDS): Readonly<Record<Language, string>> => ({
  ...TEMPLATE_WORDS[template].purpose,
  ...FURTHER[template],
})
