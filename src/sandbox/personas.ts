// The personas of the sandbox wallet. `person` and `document` define the documents, `declines` and
// `cheat` the behaviour of the wallet.
import type { Failure } from '../openid4vp/finding.ts'
import type { Mutations } from './mutations.ts'

export type PersonaId =
  | 'adult'
  | 'minor'
  | 'expired'
  | 'not_yet_valid'
  | 'revoked'
  | 'revoked_identifier'
  | 'untrusted_issuer'
  | 'tampered_claim'
  | 'wrong_device_key'
  | 'replay'
  | 'declines'

export type DocumentState = 'valid' | 'expired' | 'not_yet_valid' | 'revoked' | 'untrusted'

type Localized = Readonly<Record<'en' | 'de', string>>

export type Persona = {
  readonly id: PersonaId
  readonly title: Localized
  readonly explanation: Localized
  /** The outcome of a check for 18 or over. */
  readonly expects: 'completed' | 'wallet_declined' | Failure
  readonly person: 'adult' | 'minor'
  readonly document: DocumentState
  /** Its mdocs are on the list of identifiers instead of the status list. */
  readonly byIdentifier?: boolean
  readonly declines?: boolean
  readonly cheat?: Mutations
}

/** The nonce of another session. */
const CAPTURED_NONCE = 'bm9uY2Ugb2YgYW5vdGhlciBzZXNzaW9uLCBjYXB0dXI'
/** The code of another session in person: an empty map. */
const CAPTURED_ENGAGEMENT = Uint8Array.of(0xa0)

export const PERSONAS: Readonly<Record<PersonaId, Persona>> = {
  adult: {
    id: 'adult',
    title: { en: 'Adult', de: 'Erwachsen' },
    explanation: {
      en: 'Born in 1990, with valid documents: everything holds, except being 65.',
      de: 'Geboren 1990, mit gültigen Ausweisen: Alles stimmt, nur 65 Jahre alt ist sie nicht.',
    },
    expects: 'completed',
    person: 'adult',
    document: 'valid',
  },
  minor: {
    id: 'minor',
    title: { en: 'Minor', de: 'Minderjährig' },
    explanation: {
      en: 'Fifteen years old, with valid documents: every age check is refused.',
      de: 'Fünfzehn Jahre alt, mit gültigen Ausweisen: Jede Altersprüfung wird abgelehnt.',
    },
    expects: 'claim_not_satisfied',
    person: 'minor',
    document: 'valid',
  },
  expired: {
    id: 'expired',
    title: { en: 'Expired', de: 'Abgelaufen' },
    explanation: {
      en: 'An adult whose documents ran out a month ago.',
      de: 'Eine Erwachsene, deren Ausweise vor einem Monat abgelaufen sind.',
    },
    expects: 'credential_expired',
    person: 'adult',
    document: 'expired',
  },
  not_yet_valid: {
    id: 'not_yet_valid',
    title: { en: 'Not yet valid', de: 'Noch nicht gültig' },
    explanation: {
      en: 'An adult whose documents become valid only in a month.',
      de: 'Eine Erwachsene, deren Ausweise erst in einem Monat gültig werden.',
    },
    expects: 'credential_not_yet_valid',
    person: 'adult',
    document: 'not_yet_valid',
  },
  revoked: {
    id: 'revoked',
    title: { en: 'Revoked', de: 'Widerrufen' },
    explanation: {
      en: 'An adult whose documents the issuer has revoked in its status list.',
      de: 'Eine Erwachsene, deren Ausweise der Aussteller in seiner Statusliste widerrufen hat.',
    },
    expects: 'credential_revoked',
    person: 'adult',
    document: 'revoked',
  },
  revoked_identifier: {
    id: 'revoked_identifier',
    title: { en: 'Revoked (identifier list)', de: 'Widerrufen (Kennungsliste)' },
    explanation: {
      en: 'An adult whose mdocs the issuer names in its list of revoked identifiers.',
      de: 'Eine Erwachsene, deren mdocs der Aussteller in seiner Liste widerrufener Kennungen nennt.',
    },
    expects: 'credential_revoked',
    person: 'adult',
    document: 'revoked',
    byIdentifier: true,
  },
  untrusted_issuer: {
    id: 'untrusted_issuer',
    title: { en: 'Unknown issuer', de: 'Unbekannter Aussteller' },
    explanation: {
      en: 'An adult with well-made documents from an issuer nobody trusts.',
      de: 'Eine Erwachsene mit sauber gemachten Ausweisen eines Ausstellers, dem niemand vertraut.',
    },
    expects: 'issuer_untrusted',
    person: 'adult',
    document: 'untrusted',
  },
  tampered_claim: {
    id: 'tampered_claim',
    title: { en: 'Tampered claim', de: 'Gefälschte Angabe' },
    explanation: {
      en: 'A minor who has changed a claim after it was signed, such as the age.',
      de: 'Ein Minderjähriger, der eine signierte Angabe nachträglich geändert hat, etwa das Alter.',
    },
    expects: 'signature_invalid',
    person: 'minor',
    document: 'valid',
    cheat: { tamperClaim: true },
  },
  wrong_device_key: {
    id: 'wrong_device_key',
    title: { en: "Somebody else's documents", de: 'Fremde Ausweise' },
    explanation: {
      en: "A copy of an adult's documents, presented without the key they are bound to.",
      de: 'Eine Kopie der Ausweise einer Erwachsenen, vorgezeigt ohne den Schlüssel, an den sie gebunden sind.',
    },
    expects: 'holder_binding_invalid',
    person: 'adult',
    document: 'valid',
    cheat: { otherKey: true },
  },
  replay: {
    id: 'replay',
    title: { en: 'Replay', de: 'Wiederholung' },
    explanation: {
      en: "An adult's presentation, recorded in another session and sent again.",
      de: 'Die Vorlage einer Erwachsenen, in einer anderen Sitzung aufgezeichnet und noch einmal gesendet.',
    },
    expects: 'holder_binding_invalid',
    person: 'adult',
    document: 'valid',
    cheat: { kbNonce: CAPTURED_NONCE, transcriptNonce: CAPTURED_NONCE, transcriptParts: [CAPTURED_ENGAGEMENT] },
  },
  declines: {
    id: 'declines',
    title: { en: 'Declines', de: 'Teilt nicht' },
    explanation: {
      en: 'An adult who reads what is asked for and declines.',
      de: 'Eine Erwachsene, die liest, was verlangt wird, und nicht teilt.',
    },
    expects: 'wallet_declined',
    person: 'adult',
    document: 'valid',
    declines: true,
  },
}
