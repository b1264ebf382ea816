import type { Slip } from './list.ts'

export default [
  // Certificates.
  ['a certificate is imported for any key', 'keyOf', 'leaf.publicKey.equals(createPublicKey(key))', 'true', 'signing/tenant'],
  ["another tenant's key signs", 'keyOf', 'fitting.find(({ row }) => row.tenantId === owner)', 'fitting[0]', 'signing/tenant'],
  ['an expired certificate is imported', 'startFor', 'if (ends <= at) throw', 'if (false) throw', 'cli/signing'],
  ['a certificate signs before it is valid', 'startFor', 'Math.max(begins,', 'Math.max(0,', 'signing/schedule'],
  ['the root is sent to wallets', 'withoutAnchors', 'isSelfSigned(each) ||', '', 'signing/schedule', 'cli/signing'],
  ['a scheduled certificate is used at once', 'leavesAt', 'if (isLater(leaf, at))', 'if (false)', 'signing/schedule'],
  ['keys of replaced certificates stay', 'retireSigningKeys', 'await eraseKey(tx, id)', '', 'signing/schedule'],
  ['keys are erased while sessions need them', 'retireSigningKeys', 'at - KEPT_MS', 'at', 'signing/schedule'],
  [
    'a removed certificate is still used',
    'removeSigningKeys',
    'if (leaves.length > 0) await retireLeaves(tx, idsOf(leaves), at)',
    '',
    'signing/tenant',
  ],
  [
    'a request outlives the removal',
    'removeSigningKeys',
    'if (pending.length > 0) await deletePending(tx, idsOf(pending))',
    '',
    'signing/tenant',
  ],
  ['cancelling takes the certificate in use', 'cancelScheduled', '.filter(leaf => isLater(leaf, at))', '', 'signing/tenant'],
  // Readers.
  ['any certificate reads', 'refuseNoReader', '!extendedKeyUsage?.purposes.includes(READER_PURPOSE) ||', '', 'wallet/dc-reader'],
  [
    'a reader certificate signs other requests',
    'refuseReader',
    'purposes.join() === READER_PURPOSE',
    'false',
    'wallet/dc-reader',
  ],
  [
    'one key signs both kinds of requests',
    'hasKeyOf',
    'leaf.publicKey.equals(createPublicKey(openPrivateKey(deps, row)))',
    'false',
    'wallet/dc-reader',
  ],
  ['a reader signs after its end', 'isValid', '&& at < notAfter', '', 'wallet/dc-reader'],
  ['a reader signs before it is valid', 'isValid', '(startsAt ?? 0) <= at &&', '', 'wallet/dc-reader'],
  [
    "the installation's readers sign beside a tenant's own",
    'rememberReaders',
    'own.length > 0 ? own : valid.filter(({ row }) => row.tenantId === null)',
    'valid',
    'wallet/dc-reader',
  ],
  ['a removed reader still signs', 'removeReader', 'await retireReaders(tx, [row.id], at)', '', 'wallet/dc-reader'],
  // Registrations.
  ['a registration that has ended is sent', 'choose', 'isCurrent(row, at) &&', '', 'wallet/registration'],
  [
    'the registration of another organisation is sent',
    'choose',
    '&& isOfSame(row, signer.organization)',
    '',
    'wallet/registration',
  ],
  [
    'the widest registration is sent',
    'choose',
    'compare(one.claims, other.claims)',
    'compare(other.claims, one.claims)',
    'wallet/registration',
  ],
  ['a template gets any registration', 'choose', 'if (assigned) return assigned', '', 'wallet/registration'],
  [
    "the installation's registration goes with a tenant's certificate",
    'storedFor',
    'own.length > 0 || signer.tenantId !== null ? own :',
    'own.length > 0 ? own :',
    'signing/tenant',
    'wallet/registration',
  ],
] satisfies Slip[]
