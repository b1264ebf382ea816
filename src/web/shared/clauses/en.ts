import { flaws } from '../findings/en.ts'
import type { ClauseWords } from './say.ts'

const renewAccess = 'Get one with "vidimus signing csr --new-key", and install it with "vidimus signing import".'
const addRegistration = 'Get one from your registrar, and add it with "vidimus registration add FILE".'
const plain = 'Unset VIDIMUS_WALLET_PROFILE, and the profile "plain" of the template.'
const importAccess = 'Import an access certificate, and unset VIDIMUS_DC_API and VIDIMUS_READER_AUTH.'
const addList = 'Add the list of these issuers ("vidimus trust source add"), and remove what was added by hand.'

export const clauses: ClauseWords = {
  rules: {
    'eu.redirect.signed': ['Links lead to a request object that is signed with ES256.'],
    'eu.redirect.header-iat': ['The header of the request object repeats its iat.'],
    'eu.redirect.x5c': ['The chain begins with the certificate that signs, and contains no anchor.', renewAccess],
    'eu.client-id': ['The client_id is the x509_hash of the access certificate.', 'Unset VIDIMUS_CLIENT_ID.'],
    'eu.access-certificate': ['The access certificate is valid, and of a listed authority.', renewAccess],
    'eu.access-profile': ['The access certificate follows ETSI TS 119 411-8.', 'Ask the authority for one that does.'],
    'eu.registration': ['Each request carries exactly one registration certificate.', addRegistration],
    'eu.registration.same-party': ['The registration names the organisation of the access certificate.', addRegistration],
    'eu.registration.scope': ['The registration covers all that is asked.', 'Register the rest, or ask for less.'],
    'eu.registration.current': ['The registration counts today, for a year at most, and is not revoked.', addRegistration],
    'eu.registration.data-form': ['The registration is sent as jwt (EU wallets read that) or base64url (the letter of ETSI).'],
    'eu.metadata.keys': ['The request names a P-256 key and both encodings of HAIP.', plain],
    'eu.response.encrypted': ['Answers are encrypted.', plain],
    'eu.aud': ['The audience is https://self-issued.me/v2.'],
    'eu.expiry': ['The request counts now, and for an hour at most.', 'Check the clock of this machine.'],
    'eu.link': ['A link that begins eu-eaap:// is offered.'],
    'eu.same-device': ['Sessions with a redirect_url are released by it.', 'Create them with "release": "on_redeem".'],
    'eu.cross-device': ['Phones can be asked without a QR code.', 'Sign requests to browsers, over https, or read in person.'],
    'eu.dc-api.signed': ['Browsers get a signed request.', importAccess],
    'eu.iso.reader-auth': ['The access certificate signs each mdoc that is asked for.', importAccess],
    'eu.iso.wrprc': ['Each mdoc that is asked for carries the registration certificate.'],
    'eu.formats': ['Templates for a PID take it in both forms.', 'Add the other form to the query.'],
    'eu.trust.pid': ['Issuers of PIDs come from a list of their own.', addList],
    'eu.trust.mdl': ['Issuers of driving licences come from a list of their own.', addList],
    'eu.revocation': [
      'Lists of revoked documents can be had.',
      'Let this machine reach them, or bring them in a bundle and set VIDIMUS_STATUS_MAX_AGE.',
    ],
    'eu.unlinkable-key': ['No two requests have the same key.'],
  },
  found: {
    ...flaws,
    self_made: 'made by this service itself',
    not_valid: 'not valid today',
    no_list: 'no list of access authorities is loaded',
    no_end: 'without end',
    revoked: 'revoked',
    unknown: 'its list cannot be read',
    by_hand: 'some were added by hand',
    any_type: 'some are trusted for every type',
    first_only: 'only the first, because all copies exceed 48 KiB',
    nobody: 'nobody',
  },
  fault: 'This is a fault of the service: report it.',
  said: {
    pass: (rule, found) => (found === '' ? rule : `${rule} Found: ${found}.`),
    fail: (rule, found, subject) => `${rule} Not so${subject ? ` in ${subject}` : ''}${found && `: ${found}`}.`,
    unknown: (rule, found) => `${rule} Nobody can say: ${found}.`,
    not_applicable: rule => `${rule} Nothing in use needs it.`,
  },
}
