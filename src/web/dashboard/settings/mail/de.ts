import type { mail as english } from './en.ts'

export const mail: typeof english = {
  title: 'E-Mail',
  more: 'Wenn ein Empfänger ausfällt, ein Zertifikat abläuft oder eine Sicherung alt ist, bekommen Sie eine E-Mail: je Ursache einmal am Tag.',
  unset: 'Dieser Dienst verschickt keine E-Mails. Sein Betreiber setzt VIDIMUS_SMTP_URL und VIDIMUS_MAIL_FROM.',
  address: 'E-Mail-Adresse',
  goesTo: address => `E-Mails gehen an ${address}.`,
  waits: (address, until) => `Öffnen Sie den Link in der E-Mail an ${address}. Er gilt bis ${until}.`,
  set: 'Link senden',
  setMore: 'Sie bekommen einen Link; die Adresse gilt, sobald Sie ihn geöffnet haben. E-Mails sind in der Sprache dieser Seite.',
  change: 'Andere Adresse',
  remove: 'Adresse entfernen',
  removeTitle: address => `Keine E-Mails mehr an ${address}?`,
  removeMore: 'Was Sie wissen müssen, sehen Sie hier und auf der Seite Zustand.',
  test: 'Testmail senden',
  sent: address => `Der Mailserver hat die E-Mail an ${address} angenommen.`,
  failed: why => `Nicht verschickt: ${why}.`,
  reply: 'Der Server sagt:',
  byMail: 'Per E-Mail senden',
  byMailMore: 'Wer dieses Postfach lesen kann, kann den Link benutzen.',
}
