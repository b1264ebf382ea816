/**
 * Apart from the words of our own pages: every byte is loaded by the customers of shops. The element learns the status alone,
 * so `failed` is true of every failed end.
 */
export const WORDS = {
  en: {
    ask: 'Continue with your wallet',
    other: 'Use another device or app',
    sandbox: 'Answer with the sandbox wallet',
    asking: 'Waiting for your wallet',
    checking: 'Checking your answer',
    cancelled: 'Nothing was shared. Try again, or use another way.',
    error: 'That did not work. Try again, or use another way.',
    completed: 'Verified. Thank you.',
    failed: 'Nothing was verified.',
    expired: 'This request has expired. Nothing was shared.',
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
    completed: 'Bestätigt. Danke.',
    failed: 'Es wurde nichts bestätigt.',
    expired: 'Diese Anfrage ist abgelaufen. Es wurde nichts geteilt.',
    gone: 'Diese Anfrage ist geschlossen.',
  },
}
