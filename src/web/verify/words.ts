/** Apart from the words of our own pages: every byte is loaded by the customers of shops. */
export const WORDS = {
  en: {
    ask: 'Continue with your wallet',
    other: 'Use another device or app',
    sandbox: 'Answer with the sandbox wallet',
    asking: 'Waiting for your wallet',
    checking: 'Checking your answer',
    cancelled: 'Nothing was shared. Try again, or use another way.',
    error: 'That did not work. Try again, or use another way.',
    completed: 'Done. Thank you.',
    failed: 'This proof was not accepted.',
    expired: 'Time is up. Nothing was shared.',
    gone: 'This request is closed.',
  },
  de: {
    ask: 'Mit Ihrer Wallet fortfahren',
    other: 'Anderes Gerät oder andere App',
    sandbox: 'Mit der Sandbox-Wallet antworten',
    asking: 'Wartet auf Ihre Wallet',
    checking: 'Ihre Antwort wird geprüft',
    cancelled: 'Es wurde nichts geteilt. Versuchen Sie es noch einmal oder auf anderem Weg.',
    error: 'Das hat nicht geklappt. Versuchen Sie es noch einmal oder auf anderem Weg.',
    completed: 'Fertig. Danke.',
    failed: 'Dieser Nachweis wurde nicht anerkannt.',
    expired: 'Die Zeit ist um. Es wurde nichts geteilt.',
    gone: 'Diese Anfrage ist geschlossen.',
  },
}
