import type { Slip } from './list.ts'

export default [
  ['a compressed list is unpacked without a limit', 'unpack', '{ maxOutputLength: bytesMax })', '{})', 'wallet/attacks'],
  ['anybody may sign a list', 'judgeList', 'if (!signed.ok)', 'if (false as boolean)', 'trust/accept'],
  ['a list from the future is taken', 'wrongDates', 'if (issuedAt > wall() + AHEAD_MAX_MS)', 'if (false)', 'trust/accept'],
  ['a list that has ended is taken', 'wrongDates', 'end <= now()', 'false', 'trust/accept'],
  [
    'withdrawn issuers stay anchors',
    'replaceAnchors',
    'await deleteAnchors(tx, [...gone,',
    'await deleteAnchors(tx, [',
    'trust/accept',
  ],
  ['a list of one person is kept', 'createShelf', 'mayInsert: first !== session', 'mayInsert: true', 'trust/kept-lists'],
  [
    "a stranger's bundle makes a list young",
    'takeRevocation',
    'isAccepted ? Math.min(Date.parse(bundled.fetched_at), deps.now()) : read.issuedAt',
    'Math.min(Date.parse(bundled.fetched_at), deps.now())',
    'trust/bundle-revocation',
  ],
  ['a bundle brings an older list', 'takeRevocation', 'known && !isNewer(list, known)', 'false', 'trust/bundle-revocation'],
  ['a test list is added to live', 'requirePreset', 'if (preset.environment !== environment)', 'if (false)', 'cli/trust-source'],
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
  ['a bundle makes a test list a live one', 'takeSource', "environment === 'live' &&", 'false &&', 'trust/bundle'],
] satisfies Slip[]
