import type * as en from './en.ts'

export const webPages: typeof en.webPages = {
  origins: 'Seiten, die Wallets fragen',
  originsMore: environment =>
    `Seiten unter diesen Adressen dürfen mit <vidimus-verify> nach einer Wallet fragen, in ${environment}. Wallets zeigen dem Kunden die Adresse. Die Seiten dieses Dienstes brauchen keinen Eintrag.`,
  originsCaption: 'Eingetragene Adressen',
  originsNone: 'Es ist keine Adresse eingetragen.',
  origin: 'Adresse',
  originHint: 'Etwa https://shop.example, ohne Pfad und ohne Schrägstrich am Ende.',
  originProblem: 'Schreiben Sie sie wie https://shop.example, ohne Pfad. http ohne Verschlüsselung geht nur für localhost.',
  originAdd: 'Adresse hinzufügen',
  originAdded: 'Hinzugefügt',
  originRemove: 'Entfernen',
  originRemoveTitle: origin => `${origin} entfernen?`,
  originRemoveMore: 'Seiten dort können nicht mehr fragen. Begonnene Prüfungen lassen sich noch abschließen.',
  originRemoveDo: 'Adresse entfernen',
  apps: 'Apps',
  appsMore:
    'Nach einer Prüfung kann redirect_url zurück in Ihre App führen. Ein Schema mit Punkt, etwa com.example.shop, gilt immer. Tragen Sie andere hier ein.',
  appSchemes: 'Schemas Ihrer Apps',
  appSchemesHint: 'Durch Kommas getrennt, etwa shop-app. Leer für keine.',
}
