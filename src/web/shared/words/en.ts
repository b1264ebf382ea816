import type { Check } from '../../../openid4vp/finding.ts'
import type { CheckWords, OutcomeCode, OutcomeNames, OutcomeWords } from '../outcome-code.ts'

/** A verification in one word, the same one on every page. */
export const outcomeNames: OutcomeNames = {
  pending: 'Waiting',
  held: 'Answered',
  completed: 'Verified',
  shared: 'Shared',
  failed: 'Refused',
  wallet_declined: 'Declined',
  wallet_error: 'Wallet error',
  cancelled: 'Stopped',
  redirect_not_followed: 'Not returned',
  not_same_person: 'Not the same person',
  not_compared: 'Not compared',
  expired: 'Expired',
}

export const common = {
  close: 'Close',
  cancel: 'Cancel',
  back: 'Back',
  reload: 'Reload',
  copy: (what: string) => `Copy ${what}`,
  copied: 'Copied',
  marked: 'Marked: copy it with your keyboard',
  shownOnce: 'This is the only time it is shown. Copy it now.',
  haveCopied: 'I have copied it',
  command: 'the command',
  orByCommand: 'Or on the command line:',
  withTheApi: 'With the API',
  language: 'Language',
  loading: 'Loading',
  /** Before a detail that the service words in English. */
  inEnglish: '',
  justNow: 'just now',
  fieldProblems: {
    missing: 'Fill this in.',
    address: 'Write a whole address, like https://shop.example/hooks.',
    short: 'This is too short.',
    other: 'This does not fit the line above.',
  },
  unreachable: 'The service does not answer. Check the network; this page tries again by itself.',
  broken: 'Something on this page went wrong. Nothing was lost on the server.',
  testLabel: 'Test environment',
  testBand: 'Test: sandbox documents count here.',
  testMode: 'Test mode',
  scan: 'Scan with the camera',
  stopScan: 'Stop the camera',
  viewfinder: 'Picture of the camera: hold the code into it',
  cameraRefused: 'The camera may not be used. Allow it in the browser, or type the code.',
  leadsHere:
    'This code leads to localhost, which a phone cannot reach. Stay on this machine, or set VIDIMUS_PUBLIC_URL to an address that the phone can open.',
}

/** Why a check ended as it did: for merchants and their staff. */
export const outcomes: Record<OutcomeCode, OutcomeWords> = {
  wallet_declined: {
    sentence: 'The customer chose not to share.',
    meaning: 'The wallet was asked and its holder declined, or has no such document: wallets do not tell which.',
    remedy: 'Ask whether to try again, or ask for another document.',
  },
  wallet_error: {
    sentence: "The customer's wallet could not answer.",
    meaning: 'The wallet reported an error instead of a document.',
    remedy: 'Start again. If it happens again, try another wallet.',
  },
  presentation_malformed: {
    sentence: "The wallet's answer could not be read.",
    meaning: 'What arrived is not a well-formed document.',
    remedy: 'Start again. If it happens again, the wallet does not follow the standard.',
  },
  signature_invalid: {
    sentence: 'This document was changed, or was not signed by its issuer.',
    meaning: "The issuer's signature does not cover what was presented.",
    remedy: 'Do not accept it. Ask for another document.',
  },
  holder_binding_invalid: {
    sentence: 'There is no proof that this document belongs to the person presenting it.',
    meaning: 'The proof that the wallet holds the key of this document, for this very request, is missing or wrong.',
    remedy: 'Do not accept it. Start again, or ask for another document.',
  },
  issuer_untrusted: {
    sentence: 'We could read this document, but its issuer is not on your list.',
    meaning: 'The document is sound, but nobody has said that its issuer counts here.',
    remedy: 'Add the issuer under Trust, or ask for another document.',
  },
  credential_expired: {
    sentence: 'This document has expired.',
    meaning: 'The date until which it is valid has passed.',
    remedy: 'Ask for a valid document.',
  },
  credential_not_yet_valid: {
    sentence: 'This document is not valid yet.',
    meaning: 'The date from which it is valid lies in the future.',
    remedy: 'Ask for another document. If it happens with everybody, check the clock of this server.',
  },
  credential_revoked: {
    sentence: 'The issuer has withdrawn this document.',
    meaning: 'Its status list says that it is revoked or suspended.',
    remedy: 'Ask for another document. The customer can ask the issuer why.',
  },
  issuer_status_unknown: {
    sentence: 'We could not find out whether the issuer of this document still counts.',
    meaning:
      "The revocation list (CRL) that the issuer's certificate names could not be used, so the certificate may be revoked. That is never taken for a yes.",
    remedy: 'Check the network of this server, and start again. Only for a test issuer: add its certificate with --crl off.',
  },
  status_unknown: {
    sentence: 'We could not find out whether this document is still valid.',
    meaning: "The issuer's status list could not be fetched or verified. That is never taken for a yes.",
    remedy: 'Check the network of this server, and start again.',
  },
  query_not_satisfied: {
    sentence: 'Something that you asked for is missing.',
    meaning: 'The documents are good, but they do not contain everything that was asked.',
    remedy: 'Ask for another document, or ask for less.',
  },
  claim_not_satisfied: {
    sentence: 'What was asked is not proven.',
    meaning: 'The document is good, but what it says does not meet the rules of this template.',
    remedy: 'Do not accept.',
  },
  cancelled: {
    sentence: 'This check was stopped.',
    meaning: 'Your shop, a till or somebody on this dashboard stopped it before a wallet answered.',
    remedy: 'Start a new one if you still need it.',
  },
  redirect_not_followed: {
    sentence: 'The customer answered, but did not come back to your shop.',
    meaning:
      'The answer was to be released by the redirect. Nobody redeemed its code within ten minutes, so what was presented is deleted.',
    remedy: 'Start a new one. If it happens often, check that the page behind redirect_url redeems the code.',
  },
  not_same_person: {
    sentence: 'The customer is not the person on the photo.',
    meaning: 'The document is good. The person at the till compared its photo with the customer: they differ.',
    remedy: 'Do not accept it.',
  },
  not_compared: {
    sentence: 'Nobody compared the photo.',
    meaning:
      'The document is good, but for two minutes nobody at the till said whether its photo is of the customer, so what was presented is deleted.',
    remedy: 'Start a new one.',
  },
  expired: {
    sentence: 'Nobody answered in time. Start again.',
    meaning: 'Nobody answered before the session ended.',
    remedy: 'Start a new one.',
  },
}

/** Each check that holds, and each that does not, as a sentence. */
export const checks: Record<Check, CheckWords> = {
  format: {
    passed: 'The answer is a well-formed document.',
    failed: 'The answer is not a well-formed document.',
  },
  issuer_signature: {
    passed: 'The issuer signed this document.',
    failed: 'The signature of the issuer is missing or wrong.',
  },
  digests: {
    passed: 'What was shared is what the issuer signed.',
    failed: 'What was shared is not what the issuer signed.',
  },
  doctype: {
    passed: 'The document is of the type that was asked for.',
    failed: 'The document is not of the type that was asked for.',
  },
  holder_binding: {
    passed: 'The wallet proved, for this request, that the document is its own.',
    failed: 'The wallet did not prove, for this request, that the document is its own.',
  },
  validity: {
    passed: 'Today lies within the dates of the document.',
    failed: 'Today is outside the dates of the document.',
  },
  issuer_chain: {
    passed: 'The issuer is on your list.',
    failed: 'The issuer is not on your list.',
  },
  status: {
    passed: 'The issuer has not withdrawn it.',
    failed: 'The issuer has withdrawn it, or its list could not be read.',
  },
  query: {
    passed: 'Everything that was asked for is there.',
    failed: 'Something that was asked for is missing.',
  },
  rule: {
    passed: 'What it says meets the rules of the template.',
    failed: 'What it says does not meet the rules of the template.',
  },
  merge: {
    passed: 'Each claim comes from one document only.',
    failed: 'Some claims come from more than one document.',
  },
  environment: {
    passed: 'Test and live documents are kept apart.',
    failed: 'The document belongs to the other environment.',
  },
}

/** Claims by their merged names in the API. Others are shown as they are. */
export const claims: Record<string, string> = {
  family_name: 'Family name',
  given_name: 'Given names',
  birthdate: 'Date of birth',
  place_of_birth: 'Place of birth',
  'place_of_birth.country': 'Country of birth',
  'place_of_birth.region': 'Region of birth',
  'place_of_birth.locality': 'Town of birth',
  age_in_years: 'Age',
  age_birth_year: 'Year of birth',
  nationalities: 'Nationality',
  picture: 'Photo',
  birth_family_name: 'Family name at birth',
  birth_given_name: 'Given names at birth',
  date_of_expiry: 'Valid until',
  date_of_issuance: 'Issued on',
  issuing_authority: 'Issuing authority',
  issuing_country: 'Issuing country',
  document_number: 'Document number',
  personal_administrative_number: 'Personal number',
  sex: 'Sex',
  email: 'E-mail address',
  phone_number: 'Phone number',
  driving_privileges: 'What you may drive',
  un_distinguishing_sign: 'Country code of the licence',
  address: 'Address',
  'address.formatted': 'Address',
  'address.street_address': 'Street',
  'address.house_number': 'House number',
  'address.locality': 'Town',
  'address.region': 'Region',
  'address.postal_code': 'Postcode',
  'address.country': 'Country of residence',
}

export const ageOver = (years: string): string => `That you are ${years} or over`

/** Documents by type (vct or doctype). */
export const documents: Record<string, string> = {
  'urn:eudi:pid:1': 'EU personal ID',
  'urn:eudi:pid:de:1': 'German personal ID',
  'urn:eudi:pid:it:1': 'Italian personal ID',
  'urn:eudi:pid:nl:1': 'Dutch personal ID',
  'eu.europa.ec.eudi.pid.1': 'EU personal ID',
  'eu.europa.ec.av.1': 'EU proof of age',
  'org.iso.18013.5.1.mDL': 'Driving licence',
  'org.iso.23220.photoID.1': 'Photo ID',
  'org.iso.23220.photoid.1': 'Photo ID',
  'com.google.wallet.idcard.1': 'Google ID pass',
}
