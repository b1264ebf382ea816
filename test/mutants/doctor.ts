import type { Slip } from './list.ts'

export default [
  [
    'a request without a signature passes',
    'readRequestObject',
    'return { header, claims, chain, isSigned,',
    'return { header, claims, chain, isSigned: true,',
    'doctor/eu',
  ],
  [
    'a reader signs for any origin',
    'readDocRequests',
    'isoDcApiTranscript(encryptionInfo, origin)',
    "isoDcApiTranscript(encryptionInfo, 'https://verify.example')",
    'doctor/eu',
  ],
  ['an anchor in the chain passes', 'isCleanChain', 'isLinked && isBelow', 'isLinked', 'doctor/eu'],
  ['a certificate of no listed authority passes', 'isOfAuthority', 'return [isListed,', 'return [true,', 'doctor/eu'],
  ['an ended access certificate passes', 'isOfAuthority', 'at < validToDate.getTime()', 'true', 'doctor/eu'],
  ['a revoked registration passes', 'isCurrent', "&& status !== 'revoked'", '', 'doctor/eu'],
  ['a registration of many years passes', 'isCurrent', '&& notAfter - begin <= YEAR_MS', '', 'doctor/eu'],
  [
    'a registration without an end passes',
    'isCurrent',
    'if (notAfter === null) return',
    "if (notAfter === null) return [true]; if (jwt === '') return",
    'doctor/eu',
  ],
  ['one encoding is enough', 'hasGoodKeys', '&& hasBoth', '', 'doctor/eu'],
  [
    'a document without the certificate passes',
    'hasEqualCopies',
    '.every(copy => copy === jwt)',
    '.every(copy => copy === jwt || !copy)',
    'doctor/eu',
  ],
  ['issuers that were added by hand pass', 'trustIn', '!isByHand && !isMixed', '!isMixed', 'doctor/eu'],
  ['issuers for every type pass', 'trustIn', '!isByHand && !isMixed', '!isByHand', 'doctor/eu'],
  ['two sessions may have one key', 'CLAUSES', 'new Set(keys).size === keys.length', 'true', 'doctor/eu'],
] satisfies Slip[]
