import type * as en from './en.ts'

const NO_BROWSER =
  'Dieser Browser kann keine Telefone lesen. Chrome oder Edge auf Android, Windows, ChromeOS oder macOS können es.'

export const reading: typeof en.reading = {
  start: 'Telefon lesen',
  scan: 'Code auf dem Telefon scannen',
  scanMore: 'Bitten Sie darum, in der Wallet „Vor Ort zeigen“ zu wählen und den Code hierher zu halten.',
  field: 'Code vom Handscanner',
  fieldHint: 'Der Scanner tippt ihn hier ein. Er beginnt mit mdoc:',
  preparing: 'Anfrage wird vorbereitet',
  pair: 'Mit dem Telefon verbinden',
  pairMore: 'Der Browser zeigt ein Telefon, oft als „Unbekanntes Gerät“. Wählen Sie es, dann „Koppeln“.',
  connect: 'Verbinden',
  connecting: 'Verbindet mit dem Telefon',
  connectingMore: 'Lassen Sie das Telefon nah bei diesem Tablet.',
  waitingMore: 'Das Telefon hat die Anfrage. Geantwortet wird dort.',
  sending: 'Die Antwort ist da',
  away: 'Die Antwort ist gelesen. Sie wird gesendet, sobald der Server wieder da ist: Schließen Sie diese Seite nicht.',
  otherWays: 'Anderen Weg nehmen',
  problems: {
    other_code: 'Das ist nicht der Code, um einen Ausweis vor Ort zu zeigen. Wählen Sie in der Wallet „Vor Ort zeigen“.',
    scanner_layout:
      'Der Scanner tippt andere Zeichen, als der Code hat. Stellen Sie ihn auf die Tastatur dieses Tablets ein, oder nehmen Sie die Kamera.',
    invalid_engagement: 'Dieser Code ist nicht lesbar. Bitten Sie um einen neuen.',
    engagement_not_supported:
      'Diese Wallet kann ein Browser nicht lesen: Sie will sich selbst verbinden, berührt werden, oder nutzt einen Schlüssel, den dieser Dienst nicht kennt. Nehmen Sie einen anderen Weg, oder bitten Sie um einen anderen Nachweis.',
    not_askable_in_person: 'Diese Prüfung geht nicht vor Ort. Nehmen Sie einen anderen Weg.',
    rate_limit_exceeded: 'Für diese Prüfung wurden zu viele Codes gescannt. Warten Sie kurz, oder fangen Sie neu an.',
    refused: 'Der Server hat diesen Code abgelehnt. Bitten Sie um einen neuen.',
    no_browser: NO_BROWSER,
    not_connected: 'Das Telefon antwortet nicht. Bitten Sie um einen neuen Code.',
    wrong_service: 'Dieses Telefon bietet nicht, was sein Code versprach. Bitten Sie um einen neuen Code.',
    lost: 'Die Verbindung ist abgebrochen. Bitten Sie um einen neuen Code.',
    unreadable: 'Die Antwort war nicht lesbar. Bitten Sie um einen neuen Code.',
    closed: 'Die Anfrage wurde auf dem Telefon geschlossen. Es wurde nichts geteilt.',
    nothing_shared: 'Das Telefon hat nichts geteilt.',
  },
  obstacles: {
    not_chosen: 'Es wurde kein Telefon gewählt.',
    none_seen: 'Es wurde kein Telefon gewählt. Ist auf dem Telefon Bluetooth an?',
    no_bluetooth: 'Bluetooth ist auf diesem Tablet aus. Schalten Sie es ein.',
    not_allowed:
      'Dieser Browser darf Bluetooth nicht benutzen. Erlauben Sie ihm in den Einstellungen des Tablets „Geräte in der Nähe“ (vor Android 12: „Standort“), und verbinden Sie dann noch einmal.',
  },
  check: 'Dieses Tablet prüfen',
  checkMore: 'Was dieses Tablet braucht, um Telefone zu lesen und über den Browser zu fragen.',
  tablet: {
    https: ['Sichere Adresse', 'Kamera, Bluetooth und Wallets brauchen https. Fragen Sie, wer den Server eingerichtet hat.'],
    camera: ['Kamera', 'Es gibt keine Kamera, oder sie ist verboten. Ein Handscanner genügt auch.'],
    detector: ['Eingebauter Codeleser', 'Dieser Browser hat keinen. Die Kasse nimmt ihren eigenen, der langsamer ist.'],
    bluetooth: ['Bluetooth im Browser', NO_BROWSER],
    switched_on: ['Bluetooth ist an', 'Schalten Sie Bluetooth in den Einstellungen dieses Tablets ein.'],
    wallet: ['Über diesen Browser fragen', 'Er kann keine Wallets fragen. Chrome oder Edge ab 141 können es, und Safari ab 26.'],
    clock: ['Uhr', 'Die Uhr geht um mehr als eine Minute falsch. Lassen Sie das Tablet sie selbst stellen.'],
  },
  good: 'Gut:',
  missing: 'Fehlt:',
}
