// Why keys, certificates and registration certificates are refused. Commands and the API answer in English, pages in the language
// of their reader, so this runs on either side. The English clauses follow the name of a file or field, and say what to do.
import { TEXT_WORDS, type TextFlaw } from './plain-text.ts'
import type { Localized } from './templates.ts'

const noRegistration = (en: string, de: string): Localized => ({
  en: `this is no registration certificate: ${en}`,
  de: `Das ist kein Registrierungszertifikat: ${de}`,
})

const SIGNING_WORDS = {
  no_signing_key: {
    en: 'there is no signing key yet; start the service once',
    de: 'Es gibt noch keinen Signaturschlüssel. Starten Sie den Dienst einmal.',
  },
  no_own_key: {
    en: 'this tenant has no key of its own yet; make one with "signing csr --new-key"',
    de: 'Dieses Geschäft hat noch keinen eigenen Schlüssel. Erzeugen Sie zuerst einen.',
  },
  subject_unreadable: {
    en: 'the subject cannot be read; write it like "CN=Corner Shop, O=Corner Shop GmbH, C=DE"',
    de: 'Der Name im Antrag ist nicht lesbar. Schreiben Sie ihn wie „CN=Eckladen, O=Eckladen GmbH, C=DE“.',
  },
  subject_refused: ({ flaw }: { flaw: TextFlaw }) => ({
    en: `the subject: ${TEXT_WORDS[flaw].en}`,
    de: `Der Name im Antrag: ${TEXT_WORDS[flaw].de}`,
  }),
  chain_unreadable: {
    en: 'the chain file holds no readable certificate; it must be PEM, the leaf first',
    de: 'Die Zertifikatskette enthält kein lesbares Zertifikat. Sie muss PEM sein, Ihr Zertifikat zuerst.',
  },
  key_unreadable: {
    en: 'the key file holds no readable private key; it must be PEM, without a passphrase',
    de: 'Der private Schlüssel ist nicht lesbar. Er muss PEM sein, ohne Passwort.',
  },
  key_not_p256: {
    en: 'the key must be an elliptic-curve key on P-256, which every wallet can verify',
    de: 'Der Schlüssel muss einer auf der elliptischen Kurve P-256 sein: Den kann jede Wallet prüfen.',
  },
  key_not_for_certificate: {
    en: 'the first certificate of the chain is not for this key; put the leaf first, and bring its own key',
    de: 'Das erste Zertifikat der Kette gehört nicht zu diesem Schlüssel. Setzen Sie Ihr Zertifikat an den Anfang, und fügen Sie seinen eigenen Schlüssel ein.',
  },
  key_of_other_owner: ({ owner }: { owner: string | null }) => ({
    en: `this certificate is for the key of ${owner === null ? 'the installation' : `tenant ${owner}`}; import it there`,
    de: `Dieses Zertifikat gehört zum Schlüssel ${owner === null ? 'der Installation' : `des Geschäfts ${owner}`}. Setzen Sie es dort ein.`,
  }),
  key_not_here: {
    en: 'the first certificate of the chain is for none of the keys here; put the leaf first, bring its own key, or have "signing csr" signed',
    de: 'Das erste Zertifikat der Kette gehört zu keinem der Schlüssel hier. Setzen Sie Ihr Zertifikat an den Anfang, fügen Sie seinen Schlüssel ein, oder lassen Sie einen Antrag von hier unterschreiben.',
  },
  key_replaced: {
    en: 'the signing key was replaced meanwhile; see "signing show", and bring the key of this certificate',
    de: 'Der Signaturschlüssel wurde inzwischen ersetzt. Fügen Sie den Schlüssel zu diesem Zertifikat ein.',
  },
  key_of_reader: {
    en: 'this key signs as a reader, and nothing else; bring a certificate for another key',
    de: 'Dieser Schlüssel gehört zu einem Lesezertifikat und signiert sonst nichts. Nehmen Sie ein Zertifikat für einen anderen Schlüssel.',
  },
  key_signs_other_requests: {
    en: 'this key signs other requests; a reader certificate needs its own: "signing csr --new-key" makes one',
    de: 'Dieser Schlüssel signiert andere Anfragen. Ein Lesezertifikat braucht einen eigenen: „vidimus signing csr --new-key“ erzeugt ihn.',
  },
  certificate_self_signed: {
    en: 'the certificate is self-signed, and wallets refuse that; have it signed by an authority',
    de: 'Das Zertifikat ist selbst signiert, und Wallets lehnen das ab. Lassen Sie es von einer Zertifizierungsstelle unterschreiben.',
  },
  certificate_ended: {
    en: 'the certificate has expired; get a current one from the authority',
    de: 'Das Zertifikat ist abgelaufen. Holen Sie bei der Zertifizierungsstelle ein gültiges.',
  },
  certificate_of_reader: {
    en: 'this is a reader certificate, which signs no other requests; import it with --reader',
    de: 'Das ist ein Lesezertifikat, das keine anderen Anfragen signiert. Setzen Sie es auf der Befehlszeile mit --reader ein.',
  },
  certificate_of_no_reader: ({ purpose }: { purpose: string }) => ({
    en: `this is no reader certificate: its purposes lack ${purpose}; without --reader it signs requests`,
    de: `Das ist kein Lesezertifikat: Unter seinen Zwecken fehlt ${purpose}. Ohne --reader signiert es Anfragen.`,
  }),
  certificate_not_for_host: ({ host }: { host: string }) => ({
    en: `the certificate does not name ${host}, and with VIDIMUS_CLIENT_ID=x509_san_dns wallets would refuse it; have that name added, or use x509_hash`,
    de: `Das Zertifikat nennt ${host} nicht, und mit VIDIMUS_CLIENT_ID=x509_san_dns würden Wallets es ablehnen. Lassen Sie diesen Namen aufnehmen, oder nehmen Sie x509_hash.`,
  }),
  chain_out_of_order: {
    en: 'the certificates of the chain do not follow each other, leaf first',
    de: 'Die Zertifikate der Kette folgen nicht aufeinander. Ihres kommt zuerst, dann jeweils das darüber.',
  },
  chain_ended: ({ subject }: { subject: string }) => ({
    en: `${subject} in the chain has expired; get a current chain from the authority`,
    de: `${subject} in der Kette ist abgelaufen. Holen Sie bei der Zertifizierungsstelle eine gültige Kette.`,
  }),
  chain_never_valid: {
    en: 'the certificates of the chain are never valid at the same time; get a current chain from the authority',
    de: 'Die Zertifikate der Kette gelten nie zur selben Zeit. Holen Sie bei der Zertifizierungsstelle eine gültige Kette.',
  },
  start_after_end: ({ end }: { end: string }) => ({
    en: `the certificate ends before that, at ${end}; choose an earlier time`,
    de: `Das Zertifikat läuft vorher ab (${end}). Wählen Sie einen früheren Tag.`,
  }),
  no_start_scheduled: {
    en: 'no certificate is scheduled; "signing show" says which is in use',
    de: 'Kein Zertifikat ist für später vorgesehen. Laden Sie die Seite neu.',
  },
  nothing_of_its_own: {
    en: 'this tenant has no certificate or key of its own',
    de: 'Dieses Geschäft hat kein eigenes Zertifikat und keinen eigenen Schlüssel.',
  },
  reader_not_here: {
    en: 'there is no such reader certificate; "signing show" lists those that are here',
    de: 'Dieses Lesezertifikat gibt es hier nicht. „vidimus signing show“ zeigt alle.',
  },
  too_many_readers: ({ max }: { max: number }) => ({
    en: `there are ${max} reader certificates already; remove one first`,
    de: `Es gibt schon ${max} Lesezertifikate. Entfernen Sie zuerst eines.`,
  }),
  registration_ended: ({ end }: { end: string }) => ({
    en: `it ended at ${end}; get a current one from the registrar`,
    de: `Das Registrierungszertifikat ist am ${end} abgelaufen. Holen Sie bei der Registerstelle ein gültiges.`,
  }),
  registration_stored: ({ id }: { id: string }) => ({
    en: `it is stored already (${id}); remove it first to change its templates`,
    de: `Dieses Registrierungszertifikat ist schon da (${id}). Um seine Vorlagen zu ändern, entfernen Sie es zuerst.`,
  }),
  too_many_registrations: ({ max }: { max: number }) => ({
    en: `there are ${max} registration certificates already; remove old ones first`,
    de: `Es gibt schon ${max} Registrierungszertifikate. Entfernen Sie zuerst alte.`,
  }),
  template_not_here: ({ key }: { key: string }) => ({
    en: `there is no template ${key}; "vidimus template list" shows all`,
    de: `Eine Vorlage ${key} gibt es nicht. Alle stehen unter Vorlagen.`,
  }),
  no_jwt: noRegistration('it holds no JWT', 'Es enthält kein JWT.'),
  several_jwts: noRegistration(
    'it holds more than one JWT; bring them one by one',
    'Es enthält mehr als ein JWT. Fügen Sie sie einzeln hinzu.',
  ),
  jwt_too_long: ({ kib }: { kib: number }) =>
    noRegistration(
      `it is longer than ${kib} KiB, which wallets would have to fetch each time`,
      `Es ist länger als ${kib} KiB, und Wallets müssten es jedes Mal laden.`,
    ),
  jwt_unreadable: noRegistration('it cannot be read', 'Es ist nicht lesbar.'),
  jwt_of_other_type: ({ type }: { type: string }) =>
    noRegistration(
      `it is a JWT of another type; its \`typ\` must be ${type}`,
      `Es ist ein JWT von anderem Typ; sein \`typ\` muss ${type} sein.`,
    ),
  signature_uncheckable: noRegistration(
    'its signature cannot be checked with the certificate in its header (`x5c`)',
    'Seine Signatur lässt sich mit dem Zertifikat in seinem Header (`x5c`) nicht prüfen.',
  ),
  signature_wrong: noRegistration(
    'its signature does not hold; it was changed on the way',
    'Seine Signatur stimmt nicht; es wurde unterwegs verändert.',
  ),
  organization_missing: noRegistration('it names no organisation (`sub`)', 'Es nennt keine Organisation (`sub`).'),
  credentials_unreadable: noRegistration('its `credentials` cannot be read', 'Seine `credentials` sind nicht lesbar.'),
  credential_untyped: ({ index }: { index: number }) =>
    noRegistration(
      `its \`credentials[${index}]\` has no format or type`,
      `\`credentials[${index}]\` hat kein Format oder keinen Typ.`,
    ),
  claim_unreadable: ({ index }: { index: number }) =>
    noRegistration(
      `a claim of its \`credentials[${index}]\` cannot be read`,
      `Eine Angabe in \`credentials[${index}]\` ist nicht lesbar.`,
    ),
} as const satisfies Record<string, Localized | ((values: never) => Localized)>

type Words = typeof SIGNING_WORDS
type Values<Code extends keyof Words> = Words[Code] extends (values: infer Of) => Localized ? [values: Of] : []

/** A code, and the values of its sentence if it has any. */
export type Refusal = { [Code in keyof Words]: [code: Code, ...Values<Code>] }[keyof Words]

export type RefusalReason = { code: keyof Words; values: object }

export function sayRefusal({ code, values }: RefusalReason): Localized {
  const words: Localized | ((values: never) => Localized) = SIGNING_WORDS[code]
  return typeof words === 'function' ? words(values as never) : words
}
