import type * as en from './en.ts'

export const settings: typeof en.settings = {
  title: 'Einstellungen',
  tabs: {
    shop: 'Geschäft',
    profile: 'Profil',
    security: 'Sicherheit',
    people: 'Personen',
    installation: 'Installation',
    health: 'Zustand',
  },
}
