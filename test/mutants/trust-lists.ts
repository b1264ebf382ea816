import type { Slip } from './list.ts'

export default [
  ['any signer counts as pinned', 'pinnedPath', 'fingerprint === sha256Hex(signer.der)', 'true', 'trust-lists/signer'],
  ['a CA vouches for the signer of an ETSI list', 'pinnedPath', "kind !== 'vical' || ", '', 'trust-lists/signer'],
  ['an expired signer is accepted', 'judgeSigner', 'now < notBefore || now > notAfter', 'now < notBefore', 'trust-lists/signer'],
  [
    'the signature of a LoTE is not checked',
    'verifyJades',
    'if (!isSignedBy(signer, algorithm, jws))',
    'if (false)',
    'trust-lists/lote',
  ],
  ['the header of a LoTE chooses the algorithm', 'verifyJades', '|| !fitsKey(algorithm, signer)', '', 'trust-lists/lote'],
  ['weak keys sign LoTEs', 'verifyJades', '!hasStrongKey(signer) ||', '', 'trust-lists/lote'],
  ['the signature of a VICAL is not checked', 'verifiedPayload', 'if (!isValid) throw', 'if (false) throw', 'trust-lists/vical'],
  [
    'the header of a VICAL chooses the algorithm',
    'verifiedPayload',
    '!algorithm || algorithm.curve !== curveOf(signer)',
    '!algorithm',
    'trust-lists/vical',
  ],
  ['the allow-list of a source is ignored', 'intersect', 'if (!allowed) return', 'return', 'trust-lists/grants'],
  ['any status is in force', 'isInForce', 'status === null ||', 'true ||', 'trust-lists/grants'],
  // XML lists.
  [
    'the first XML signature anywhere counts',
    'findSignature',
    'if (!root.children.includes(signature)) throw',
    'if (false) throw',
    'trust-lists/etsi-xml',
  ],
  [
    'a second XML signature is ignored',
    'findSignature',
    'if (others.length > 0) throw',
    'if (false) throw',
    'trust-lists/etsi-xml',
  ],
  [
    'an XML list is not compared with its digest',
    'checkReference',
    "if (!hash(digest, canonical(), 'buffer').equals(bytesOf(value!))) throw",
    'if (false) throw',
    'trust-lists/etsi-xml',
  ],
  [
    'XML signatures are not checked',
    'verifyXades',
    'if (!isSignedBy(signer, algorithm,',
    'if (false && !isSignedBy(signer, algorithm,',
    'trust-lists/etsi-xml',
  ],
  ['weak keys sign XML lists', 'verifyXades', '|| !hasStrongKey(signer)', '', 'trust-lists/etsi-xml'],
] satisfies Slip[]
