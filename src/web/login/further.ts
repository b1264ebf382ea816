import type { Language, StaffLanguage } from '../../words/languages.ts'
import type * as en from './en.ts'

/** The other languages of shoppers. */
export const FURTHER: Readonly<Record<Exclude<Language, StaffLanguage>, typeof en.login>> = {
  es: {
    returning: 'Está iniciando sesión.',
    returningMore: 'Enseguida vuelve al lugar de donde vino.',
    goOn: 'Continuar',
    lost: 'Este inicio de sesión se empezó en otro navegador.',
    lostMore: 'O ha terminado. Vuelva a donde quería iniciar sesión o empiece allí de nuevo.',
    failed: 'El servicio no responde.',
    failedMore: 'Compruebe la red e inténtelo de nuevo.',
    again: 'Intentar de nuevo',
    refused: {
      unknown_client: {
        title: 'Este inicio de sesión no funciona.',
        more: 'Este servicio no conoce el programa que le ha enviado aquí. Solo puede arreglarlo quien lo gestiona (unknown_client).',
      },
      redirect_uri_mismatch: {
        title: 'Este inicio de sesión no funciona.',
        more: 'El programa que le ha enviado aquí quiere que vuelva a una dirección que no está registrada. Solo puede arreglarlo quien lo gestiona (redirect_uri_mismatch).',
      },
      rate_limit_exceeded: {
        title: 'Aquí empiezan demasiados inicios de sesión a la vez.',
        more: 'Espere un momento, vuelva a donde quería iniciar sesión e inténtelo de nuevo (rate_limit_exceeded).',
      },
    },
  },
  fr: {
    returning: 'Connexion en cours.',
    returningMore: 'Vous revenez dans un instant là d’où vous venez.',
    goOn: 'Continuer',
    lost: 'Cette connexion a été commencée dans un autre navigateur.',
    lostMore: 'Ou elle est terminée. Retournez là où vous vouliez vous connecter, ou recommencez-y.',
    failed: 'Le service n’a pas répondu.',
    failedMore: 'Vérifiez le réseau et réessayez.',
    again: 'Réessayer',
    refused: {
      unknown_client: {
        title: 'Cette connexion ne fonctionne pas.',
        more: 'Ce service ne connaît pas le programme qui vous a envoyé ici. Seuls ceux qui le gèrent peuvent y remédier (unknown_client).',
      },
      redirect_uri_mismatch: {
        title: 'Cette connexion ne fonctionne pas.',
        more: 'Le programme qui vous a envoyé ici veut votre retour à une adresse qui n’est pas enregistrée. Seuls ceux qui le gèrent peuvent y remédier (redirect_uri_mismatch).',
      },
      rate_limit_exceeded: {
        title: 'Trop de connexions commencent ici en même temps.',
        more: 'Attendez un instant, retournez là où vous vouliez vous connecter et réessayez (rate_limit_exceeded).',
      },
    },
  },
  it: {
    returning: 'Accesso in corso.',
    returningMore: 'Tra un momento torna da dove è venuto.',
    goOn: 'Continua',
    lost: 'Questo accesso è stato iniziato in un altro browser.',
    lostMore: 'Oppure è terminato. Torni dove voleva accedere, o ricominci da lì.',
    failed: 'Il servizio non ha risposto.',
    failedMore: 'Controlli la rete e riprovi.',
    again: 'Riprova',
    refused: {
      unknown_client: {
        title: 'Questo accesso non funziona.',
        more: 'Questo servizio non conosce il programma che l’ha inviata qui. Può rimediare solo chi lo gestisce (unknown_client).',
      },
      redirect_uri_mismatch: {
        title: 'Questo accesso non funziona.',
        more: 'Il programma che l’ha inviata qui la vuole di ritorno a un indirizzo non registrato. Può rimediare solo chi lo gestisce (redirect_uri_mismatch).',
      },
      rate_limit_exceeded: {
        title: 'Qui iniziano troppi accessi insieme.',
        more: 'Attenda un momento, torni dove voleva accedere e riprovi (rate_limit_exceeded).',
      },
    },
  },
  nl: {
    returning: 'U wordt aangemeld.',
    returningMore: 'U bent zo terug waar u vandaan kwam.',
    goOn: 'Doorgaan',
    lost: 'Deze aanmelding is in een andere browser begonnen.',
    lostMore: 'Of hij is afgelopen. Ga terug naar waar u wilde inloggen, of begin daar opnieuw.',
    failed: 'De dienst antwoordde niet.',
    failedMore: 'Controleer het netwerk en probeer het opnieuw.',
    again: 'Opnieuw proberen',
    refused: {
      unknown_client: {
        title: 'Deze aanmelding werkt niet.',
        more: 'Deze dienst kent het programma niet dat u hierheen stuurde. Alleen wie het beheert kan dat oplossen (unknown_client).',
      },
      redirect_uri_mismatch: {
        title: 'Deze aanmelding werkt niet.',
        more: 'Het programma dat u hierheen stuurde wil u terug op een adres dat niet is geregistreerd. Alleen wie het beheert kan dat oplossen (redirect_uri_mismatch).',
      },
      rate_limit_exceeded: {
        title: 'Hier beginnen te veel aanmeldingen tegelijk.',
        more: 'Wacht even, ga terug naar waar u wilde inloggen en probeer het opnieuw (rate_limit_exceeded).',
      },
    },
  },
  pl: {
    returning: 'Trwa logowanie.',
    returningMore: 'Za chwilę wrócisz tam, skąd przychodzisz.',
    goOn: 'Dalej',
    lost: 'To logowanie rozpoczęto w innej przeglądarce.',
    lostMore: 'Albo już się skończyło. Wróć tam, gdzie chcesz się zalogować, lub zacznij tam od nowa.',
    failed: 'Usługa nie odpowiedziała.',
    failedMore: 'Sprawdź sieć i spróbuj ponownie.',
    again: 'Spróbuj ponownie',
    refused: {
      unknown_client: {
        title: 'To logowanie nie działa.',
        more: 'Ta usługa nie zna programu, który Cię tu skierował. Może to naprawić tylko ten, kto go prowadzi (unknown_client).',
      },
      redirect_uri_mismatch: {
        title: 'To logowanie nie działa.',
        more: 'Program, który Cię tu skierował, chce powrotu pod adres, który nie jest zarejestrowany. Może to naprawić tylko ten, kto go prowadzi (redirect_uri_mismatch).',
      },
      rate_limit_exceeded: {
        title: 'Zbyt wiele logowań rozpoczyna się tu naraz.',
        more: 'Odczekaj chwilę, wróć tam, gdzie chcesz się zalogować, i spróbuj ponownie (rate_limit_exceeded).',
      },
    },
  },
}
