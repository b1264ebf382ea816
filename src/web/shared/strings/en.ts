// All English words of the pages, a section for each; de.ts has the same shape. Plain, short, in the reader's trade: what happened, then what to do.
import type { Check } from '../../../openid4vp/finding.ts'
import type { Status } from '../../../verifications/schema.ts'
import type { OutcomeCode, OutcomeWords } from '../outcome.ts'

const statuses: Record<Status, string> = { pending: 'Waiting', completed: 'Verified', failed: 'Refused', expired: 'Expired' }

export const common = {
  close: 'Close',
  cancel: 'Cancel',
  back: 'Back',
  reload: 'Reload',
  again: 'Try again',
  copy: (what: string) => `Copy ${what}`,
  copied: 'Copied',
  marked: 'Marked: copy it with your keyboard',
  shownOnce: 'This is the only time it is shown. Copy it now.',
  command: 'the command',
  orByCommand: 'Or on the command line:',
  loading: 'Loading',
  unreachable: 'The service does not answer. Check the network; this page tries again by itself.',
  broken: 'Something on this page went wrong. Nothing was lost on the server.',
  testLabel: 'Test environment',
  testBand: 'Test: only sandbox documents count here.',
  scan: 'Scan with the camera',
  stopScan: 'Stop the camera',
  viewfinder: 'Picture of the camera: hold the code into it',
  cameraRefused: 'The camera may not be used. Allow it in the browser, or type the code.',
  statuses,
}

/** Why a check ended as it did: for merchants and their staff. */
export const outcomes: Record<OutcomeCode, OutcomeWords> = {
  wallet_declined: {
    sentence: 'The customer chose not to share.',
    meaning: 'The wallet was asked and its holder said no, or has no such document: wallets do not tell which.',
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
    sentence: 'The age is not proven.',
    meaning: 'The document is good, but what it says does not meet the rule of this template.',
    remedy: 'Treat it as a no.',
  },
  expired: {
    sentence: 'Time is up. Start again.',
    meaning: 'Nobody answered before the session ended.',
    remedy: 'Start a new one.',
  },
}

/** What must hold, as a sentence beside its tick, cross or dash. */
export const checks: Record<Check, string> = {
  format: 'The answer is a well-formed document.',
  issuer_signature: 'The issuer signed this document.',
  digests: 'What was shared is what the issuer signed.',
  doctype: 'The document is of the type that was asked for.',
  holder_binding: 'The wallet proved, for this request, that the document is its own.',
  validity: 'Today lies within the dates of the document.',
  issuer_chain: 'The issuer is on your list.',
  status: 'The issuer has not withdrawn it.',
  query: 'Everything that was asked for is there.',
  claims: 'What it says meets the rule of the template.',
  environment: 'Test and live documents are kept apart.',
}

/** What is shared, in the merged names of the API. Names that are not here are shown as they are. */
export const claims: Record<string, string> = {
  family_name: 'Family name',
  given_name: 'Given names',
  birthdate: 'Date of birth',
  place_of_birth: 'Place of birth',
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

/** The page that a merchant links to: read by shoppers. */
export const hosted = {
  title: (who: string) => `${who} asks for a proof`,
  asks: 'asks for a proof',
  why: 'Why',
  shares: 'You share',
  oneOf: 'One of these, whichever your wallet offers',
  optional: 'Only if you want to',
  nothingElse: 'Nothing else leaves your wallet. You decide there.',
  scan: 'Scan with the camera of your phone, or with your wallet',
  qrLabel: 'QR code that opens this request in your wallet',
  open: 'Open wallet',
  openHere: 'My wallet is on this device',
  otherDevice: 'My wallet is on another device',
  left: (time: string) => `${time} left`,
  scanned: 'Waiting for your consent',
  scannedMore: 'Your wallet has the request. Answer there; this page follows by itself.',
  scannedAgain: 'It was not me, or I closed it: show the code again',
  noWallet: 'No wallet yet?',
  noWalletMore:
    'A wallet is an app that holds documents issued by your state or by others, such as the EU Digital Identity Wallet of your country. Install it, get a document into it, and come back.',
  accepted: 'Accepted here:',
  trySandbox: 'Answer with the sandbox wallet',
  completed: 'Done. Thank you.',
  completedMore: (who: string) => `${who} has the answer. You can close this page.`,
  failed: 'This did not work out.',
  reasons: {
    declined: 'Your wallet was asked not to share. Nothing was passed on.',
    wallet_error: 'Your wallet could not answer. Nothing was passed on.',
    not_accepted: 'Your wallet answered, but the answer could not be accepted.',
  },
  failedMore: (who: string) => `${who} can tell you more, and start again with you.`,
  expired: 'Time is up.',
  expiredMore: (who: string) => `Nothing was shared. Go back to ${who} and start again.`,
  gone: 'There is nothing here.',
  goneMore: 'The link is incomplete, or the request was deleted. Go back to where you got it and start again.',
  backTo: (who: string) => `Back to ${who}`,
  poweredBy: 'Checked by',
}

/** Filled by the pages themselves. */
export const dashboard = {}
export const till = {}
export const sandbox = {}
export const demo = {}
