import type * as en from './en.ts'

export const login: typeof en.login = {
  returning: 'Sie werden angemeldet.',
  returningMore: 'Gleich sind Sie wieder dort, wo Sie herkamen.',
  goOn: 'Weiter',
  lost: 'Diese Anmeldung wurde in einem anderen Browser begonnen.',
  lostMore: 'Oder sie ist zu Ende. Gehen Sie dorthin zurück, wo Sie sich anmelden wollten, oder beginnen Sie dort von vorn.',
  failed: 'Der Dienst antwortet nicht.',
  failedMore: 'Prüfen Sie das Netz, und versuchen Sie es noch einmal.',
  again: 'Noch einmal',
  refused: {
    unknown_client: {
      title: 'Diese Anmeldung geht nicht.',
      more: 'Das Programm, das Sie hierher geschickt hat, ist diesem Dienst nicht bekannt. Das kann nur beheben, wer es betreibt (unknown_client).',
    },
    redirect_uri_mismatch: {
      title: 'Diese Anmeldung geht nicht.',
      more: 'Das Programm, das Sie hierher geschickt hat, will Sie an einer Adresse zurück, die nicht eingetragen ist. Das kann nur beheben, wer es betreibt (redirect_uri_mismatch).',
    },
    rate_limit_exceeded: {
      title: 'Hier beginnen zu viele Anmeldungen auf einmal.',
      more: 'Warten Sie einen Moment, gehen Sie dorthin zurück, wo Sie sich anmelden wollten, und versuchen Sie es noch einmal (rate_limit_exceeded).',
    },
  },
}
