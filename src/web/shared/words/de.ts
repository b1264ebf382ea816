import type * as en from './en.ts'

export const common: typeof en.common = {
  close: 'Schließen',
  cancel: 'Abbrechen',
  back: 'Zurück',
  reload: 'Neu laden',
  copy: what => `${what} kopieren`,
  copied: 'Kopiert',
  marked: 'Markiert: mit der Tastatur kopieren',
  shownOnce: 'Es wird nur dieses eine Mal angezeigt. Jetzt kopieren.',
  haveCopied: 'Ich habe es kopiert',
  command: 'Befehl',
  orByCommand: 'Oder auf der Befehlszeile:',
  withTheApi: 'Mit der API',
  language: 'Sprache',
  loading: 'Lädt',
  inEnglish: 'Technisch, auf Englisch:',
  justNow: 'gerade eben',
  fieldProblems: {
    missing: 'Bitte ausfüllen.',
    address: 'Schreiben Sie eine ganze Adresse, wie https://shop.example/hooks.',
    short: 'Das ist zu kurz.',
    other: 'Das passt nicht zu der Zeile darüber.',
  },
  unreachable: 'Der Dienst antwortet nicht. Prüfen Sie das Netz; diese Seite versucht es von selbst wieder.',
  broken: 'Auf dieser Seite ist etwas schiefgegangen. Auf dem Server ist nichts verloren.',
  testLabel: 'Testumgebung',
  testBand: 'Test: Hier gelten Sandbox-Ausweise.',
  testMode: 'Testbetrieb',
  scan: 'Mit der Kamera scannen',
  stopScan: 'Kamera ausschalten',
  viewfinder: 'Bild der Kamera: Halten Sie den Code hinein',
  cameraRefused: 'Die Kamera darf nicht benutzt werden. Erlauben Sie sie im Browser, oder tippen Sie den Code ein.',
  leadsHere:
    'Dieser Code führt zu localhost, das ein Telefon nicht erreicht. Bleiben Sie auf diesem Rechner, oder geben Sie in VIDIMUS_PUBLIC_URL eine Adresse an, die das Telefon öffnen kann.',
}

export const outcomeNames: typeof en.outcomeNames = {
  pending: 'Wartet',
  held: 'Beantwortet',
  completed: 'Bestätigt',
  shared: 'Geteilt',
  failed: 'Abgelehnt',
  wallet_declined: 'Nicht geteilt',
  wallet_error: 'Fehler der Wallet',
  cancelled: 'Abgebrochen',
  redirect_not_followed: 'Nicht zurückgekehrt',
  not_same_person: 'Nicht dieselbe Person',
  not_compared: 'Nicht verglichen',
  expired: 'Abgelaufen',
}

export const outcomes: typeof en.outcomes = {
  wallet_declined: {
    sentence: 'Die Kundin oder der Kunde wollte nicht teilen.',
    meaning: 'Die Wallet wurde gefragt, aber niemand wollte teilen, oder der Ausweis fehlt: Wallets verraten nicht, was davon.',
    remedy: 'Fragen Sie, ob ein neuer Versuch gewünscht ist, oder verlangen Sie einen anderen Ausweis.',
  },
  wallet_error: {
    sentence: 'Die Wallet konnte nicht antworten.',
    meaning: 'Die Wallet meldete einen Fehler statt eines Ausweises.',
    remedy: 'Fangen Sie neu an. Passiert es wieder, versuchen Sie eine andere Wallet.',
  },
  presentation_malformed: {
    sentence: 'Die Antwort der Wallet ist nicht lesbar.',
    meaning: 'Was ankam, ist kein richtig aufgebauter Ausweis.',
    remedy: 'Fangen Sie neu an. Passiert es wieder, hält sich die Wallet nicht an den Standard.',
  },
  signature_invalid: {
    sentence: 'Dieser Ausweis wurde verändert oder nicht von seinem Aussteller unterschrieben.',
    meaning: 'Die Unterschrift des Ausstellers deckt nicht, was vorgelegt wurde.',
    remedy: 'Nicht anerkennen. Verlangen Sie einen anderen Ausweis.',
  },
  holder_binding_invalid: {
    sentence: 'Es ist nicht bewiesen, dass dieser Ausweis der Person gehört, die ihn vorlegt.',
    meaning: 'Der Beweis, dass die Wallet den Schlüssel dieses Ausweises hat, fehlt oder gilt nicht für diese Anfrage.',
    remedy: 'Nicht anerkennen. Fangen Sie neu an, oder verlangen Sie einen anderen Ausweis.',
  },
  issuer_untrusted: {
    sentence: 'Der Ausweis ist lesbar, aber sein Aussteller steht nicht auf Ihrer Liste.',
    meaning: 'Der Ausweis ist in Ordnung, doch niemand hat gesagt, dass sein Aussteller hier gilt.',
    remedy: 'Fügen Sie den Aussteller unter Vertrauen hinzu, oder verlangen Sie einen anderen Ausweis.',
  },
  credential_expired: {
    sentence: 'Dieser Ausweis ist abgelaufen.',
    meaning: 'Das Datum, bis zu dem er gilt, ist vorbei.',
    remedy: 'Verlangen Sie einen gültigen Ausweis.',
  },
  credential_not_yet_valid: {
    sentence: 'Dieser Ausweis gilt noch nicht.',
    meaning: 'Das Datum, ab dem er gilt, liegt in der Zukunft.',
    remedy: 'Verlangen Sie einen anderen Ausweis. Passiert es bei allen, prüfen Sie die Uhr dieses Servers.',
  },
  credential_revoked: {
    sentence: 'Der Aussteller hat diesen Ausweis zurückgezogen.',
    meaning: 'Seine Statusliste sagt, dass er widerrufen oder ausgesetzt ist.',
    remedy: 'Verlangen Sie einen anderen Ausweis. Den Grund kennt der Aussteller.',
  },
  issuer_status_unknown: {
    sentence: 'Es war nicht festzustellen, ob der Aussteller dieses Ausweises noch gilt.',
    meaning:
      'Die Sperrliste (CRL), die das Zertifikat des Ausstellers nennt, war nicht zu benutzen: Das Zertifikat kann gesperrt sein. Das zählt nie als Ja.',
    remedy:
      'Prüfen Sie das Netz dieses Servers, und fangen Sie neu an. Nur für einen Testaussteller: Fügen Sie sein Zertifikat mit --crl off hinzu.',
  },
  status_unknown: {
    sentence: 'Es war nicht festzustellen, ob dieser Ausweis noch gilt.',
    meaning: 'Die Statusliste des Ausstellers war nicht zu holen oder nicht zu prüfen. Das zählt nie als Ja.',
    remedy: 'Prüfen Sie das Netz dieses Servers, und fangen Sie neu an.',
  },
  query_not_satisfied: {
    sentence: 'Etwas, wonach Sie gefragt haben, fehlt.',
    meaning: 'Die Ausweise sind in Ordnung, enthalten aber nicht alles.',
    remedy: 'Verlangen Sie einen anderen Ausweis, oder fragen Sie nach weniger.',
  },
  claim_not_satisfied: {
    sentence: 'Das Gefragte ist nicht bewiesen.',
    meaning: 'Der Ausweis ist in Ordnung, erfüllt aber nicht die Regeln dieser Vorlage.',
    remedy: 'Nicht annehmen.',
  },
  cancelled: {
    sentence: 'Diese Prüfung wurde abgebrochen.',
    meaning: 'Ihr Geschäft, eine Kasse oder jemand in diesem Dashboard hat sie abgebrochen, bevor eine Wallet geantwortet hat.',
    remedy: 'Beginnen Sie eine neue, wenn Sie sie noch brauchen.',
  },
  redirect_not_followed: {
    sentence: 'Es wurde geantwortet, aber niemand kam in Ihr Geschäft zurück.',
    meaning:
      'Erst die Rückkehr sollte die Antwort freigeben. Ihr Code wurde nicht binnen zehn Minuten eingelöst, deshalb ist das Gezeigte gelöscht.',
    remedy: 'Beginnen Sie eine neue. Passiert es oft, prüfen Sie, ob die Seite hinter redirect_url den Code einlöst.',
  },
  not_same_person: {
    sentence: 'Das Foto zeigt eine andere Person.',
    meaning: 'Der Ausweis ist in Ordnung. An der Kasse wurde sein Foto verglichen, und es ist nicht dieselbe Person.',
    remedy: 'Nicht annehmen.',
  },
  not_compared: {
    sentence: 'Niemand hat das Foto verglichen.',
    meaning:
      'Der Ausweis ist in Ordnung, aber zwei Minuten lang sagte an der Kasse niemand, ob sein Foto die Person zeigt. Deshalb ist das Gezeigte gelöscht.',
    remedy: 'Beginnen Sie eine neue.',
  },
  expired: {
    sentence: 'Niemand hat rechtzeitig geantwortet. Fangen Sie neu an.',
    meaning: 'Niemand hat geantwortet, bevor die Sitzung endete.',
    remedy: 'Beginnen Sie eine neue.',
  },
}

export const checks: typeof en.checks = {
  format: {
    passed: 'Die Antwort ist ein richtig aufgebauter Ausweis.',
    failed: 'Die Antwort ist kein richtig aufgebauter Ausweis.',
  },
  issuer_signature: {
    passed: 'Der Aussteller hat diesen Ausweis unterschrieben.',
    failed: 'Die Unterschrift des Ausstellers fehlt oder ist falsch.',
  },
  digests: {
    passed: 'Geteilt wurde, was der Aussteller unterschrieben hat.',
    failed: 'Geteilt wurde etwas anderes, als der Aussteller unterschrieben hat.',
  },
  doctype: {
    passed: 'Der Ausweis ist von der verlangten Art.',
    failed: 'Der Ausweis ist nicht von der verlangten Art.',
  },
  holder_binding: {
    passed: 'Die Wallet hat für diese Anfrage bewiesen, dass der Ausweis ihr gehört.',
    failed: 'Die Wallet hat für diese Anfrage nicht bewiesen, dass der Ausweis ihr gehört.',
  },
  validity: {
    passed: 'Heute liegt im Zeitraum, in dem der Ausweis gilt.',
    failed: 'Heute liegt außerhalb des Zeitraums, in dem der Ausweis gilt.',
  },
  issuer_chain: {
    passed: 'Der Aussteller steht auf Ihrer Liste.',
    failed: 'Der Aussteller steht nicht auf Ihrer Liste.',
  },
  status: {
    passed: 'Der Aussteller hat ihn nicht zurückgezogen.',
    failed: 'Der Aussteller hat ihn zurückgezogen, oder seine Liste war nicht lesbar.',
  },
  query: {
    passed: 'Alles, wonach gefragt wurde, ist da.',
    failed: 'Etwas, wonach gefragt wurde, fehlt.',
  },
  rule: {
    passed: 'Was er sagt, erfüllt die Regeln der Vorlage.',
    failed: 'Was er sagt, erfüllt die Regeln der Vorlage nicht.',
  },
  merge: {
    passed: 'Jede Angabe kommt nur aus einem Ausweis.',
    failed: 'Manche Angaben kommen aus mehr als einem Ausweis.',
  },
  environment: {
    passed: 'Test- und echte Ausweise bleiben getrennt.',
    failed: 'Der Ausweis gehört zur anderen Umgebung.',
  },
}

export const claims: typeof en.claims = {
  family_name: 'Nachname',
  given_name: 'Vornamen',
  birthdate: 'Geburtsdatum',
  place_of_birth: 'Geburtsort',
  'place_of_birth.country': 'Geburtsland',
  'place_of_birth.region': 'Geburtsregion',
  'place_of_birth.locality': 'Geburtsort',
  age_in_years: 'Alter',
  age_birth_year: 'Geburtsjahr',
  nationalities: 'Staatsangehörigkeit',
  picture: 'Foto',
  birth_family_name: 'Geburtsname',
  birth_given_name: 'Vornamen bei der Geburt',
  date_of_expiry: 'Gültig bis',
  date_of_issuance: 'Ausgestellt am',
  issuing_authority: 'Ausstellende Behörde',
  issuing_country: 'Ausstellendes Land',
  document_number: 'Ausweisnummer',
  personal_administrative_number: 'Personennummer',
  sex: 'Geschlecht',
  email: 'E-Mail-Adresse',
  phone_number: 'Telefonnummer',
  driving_privileges: 'Was Sie fahren dürfen',
  un_distinguishing_sign: 'Länderkennung des Führerscheins',
  address: 'Anschrift',
  'address.formatted': 'Anschrift',
  'address.street_address': 'Straße',
  'address.house_number': 'Hausnummer',
  'address.locality': 'Ort',
  'address.region': 'Region',
  'address.postal_code': 'Postleitzahl',
  'address.country': 'Land des Wohnsitzes',
}

export const ageOver: typeof en.ageOver = years => `Dass Sie mindestens ${years} Jahre alt sind`

export const documents: typeof en.documents = {
  'urn:eudi:pid:1': 'EU-Personenausweisdaten (PID)',
  'urn:eudi:pid:de:1': 'Deutsche PID',
  'urn:eudi:pid:it:1': 'Italienische PID',
  'urn:eudi:pid:nl:1': 'Niederländische PID',
  'eu.europa.ec.eudi.pid.1': 'EU-Personenausweisdaten (PID)',
  'eu.europa.ec.av.1': 'EU-Altersnachweis',
  'org.iso.18013.5.1.mDL': 'Führerschein',
  'org.iso.23220.photoID.1': 'Lichtbildausweis',
  'org.iso.23220.photoid.1': 'Lichtbildausweis',
  'com.google.wallet.idcard.1': 'Google-ID-Pass',
}
