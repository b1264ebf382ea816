import type { Slip } from './list.ts'

export default [
  ['a certificate is trusted twice', 'refuseKnown', 'if (!same) return', 'return', 'dashboard/pages'],
  [
    'a certificate that is in the file twice is trusted twice',
    'refuseKnown',
    'if (repeated) throw',
    'if (false) throw',
    'dashboard/pages',
  ],
  ['local list in a live session', 'isLocalList', "isDev && environment === 'test' &&", 'isDev &&', 'wallet/local-lists'],
  ["the sandbox issuer's list is a local one", 'isLocalList', '&& !isSandboxList(uri) ?', '?', 'wallet/local-lists'],
  // Bundles.
  [
    "anybody's bundle brings new issuers",
    'importBundle',
    'isSigned && (from !== undefined || known !== undefined)',
    'isSigned',
    'trust/bundle',
  ],
  [
    'a bundle that was changed counts as signed',
    'openBundle',
    /key !== undefined && isSignedBy\([^)]*\)/,
    'key !== undefined',
    'trust/bundle',
  ],
  ['a bundle names any signer', 'keyOf', '&& sha256Hex(raw) === kid', "&& typeof kid === 'string'", 'trust/bundle'],
  ['another installation than the one named is accepted', 'requireSigner', 'signer !== wanted', 'false', 'trust/bundle'],
  ['an old bundle is taken', 'refuseMisdated', 'madeAt < lastMadeAt', 'false', 'trust/bundle'],
  ['a bundle of tomorrow is taken', 'refuseMisdated', 'madeAt > wall() + AHEAD_MAX_MS', 'false', 'trust/bundle'],
  ['a bundle makes a test list a live one', 'takeSource', "environment === 'live' &&", 'false &&', 'trust/bundle'],
  ['a bundle makes a test issuer a live one', 'takeAnchor', "environment === 'live' &&", 'false &&', 'trust/bundle'],
  ['a bundle adds a list that is here a second time', 'takeSource', 'if (here.length > 0)', 'if (false)', 'trust/bundle'],
  ['the list of another source is offered', 'takeSource', '&& source.identity === read.list.identity', '', 'trust/bundle'],
  [
    'a bundle makes the service read files',
    'addNew',
    "location?.startsWith('https:') ? location : null",
    'location ?? null',
    'trust/bundle',
  ],
  ['a bundle has any size', 'openBundle', 'bytes.length > BUNDLE_BYTES_MAX', 'false', 'trust/bundle'],
] satisfies Slip[]
