import type { Slip } from './list.ts'

export default [
  // Certificates.
  ['a certificate is imported for any key', 'keyOf', 'leaf.publicKey.equals(createPublicKey(key))', 'true', 'signing/tenant'],
  ["another tenant's key signs", 'keyOf', 'fitting.find(({ row }) => row.tenantId === owner)', 'fitting[0]', 'signing/tenant'],
  ['keys are erased while sessions need them', 'retireSigningKeys', 'at - KEPT_MS', 'at', 'signing/schedule'],
  ['a removed reader still signs', 'removeReader', 'await retireReaders(tx, [row.id], at)', '', 'wallet/dc-reader'],
  ['a certificate that no wallet knows signs as reader', 'accessOf', 'isSelfMade ? undefined :', '', 'wallet/reader-choice'],
  [
    'the EU age app gets the identity of a reader',
    'signatoriesOf',
    "session.profile === 'eu-av'",
    'false',
    'wallet/reader-choice',
  ],
  [
    'every document counts as one of the EU',
    'isForEuWallets',
    "meta.doctype_value.startsWith('eu.europa.ec.')",
    'true',
    'wallet/reader-choice',
  ],
  ['the oldest reader signs', 'signatoriesOf', 'readers.at(-1)', 'readers[0]', 'wallet/reader-choice'],
] satisfies Slip[]
