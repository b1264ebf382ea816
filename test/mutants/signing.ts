import type { Slip } from './list.ts'

export default [
  // Certificates.
  ['a certificate is imported for any key', 'keyOf', 'leaf.publicKey.equals(createPublicKey(key))', 'true', 'signing/tenant'],
  ["another tenant's key signs", 'keyOf', 'fitting.find(({ row }) => row.tenantId === owner)', 'fitting[0]', 'signing/tenant'],
  ['keys are erased while sessions need them', 'retireSigningKeys', 'at - KEPT_MS', 'at', 'signing/schedule'],
  ['a removed reader still signs', 'removeReader', 'await retireReaders(tx, [row.id], at)', '', 'wallet/dc-reader'],
] satisfies Slip[]
