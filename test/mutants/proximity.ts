import type { Slip } from './list.ts'

export default [
  // Codes.
  ['any cipher suite is taken', 'engagementIn', 'suite?.asUint() !== CIPHER_SUITE', '!suite', 'proximity/engagement'],
  ['codes of any version are taken', 'engagementIn', '/^1\\.\\d{1,3}$/', '/^\\d\\.\\d{1,3}$/', 'proximity/engagement'],
  ['a code may have any number of methods', 'engagementIn', ' || methods.length > METHODS_MAX', '', 'proximity/engagement'],
  ['a code may be nested as deeply as a document', 'engagementIn', ', depthMax: DEPTH_MAX', '', 'proximity/engagement'],
  ['a PSM may be a fraction', 'isPsm', 'Number.isSafeInteger(psm) && ', '', 'proximity/engagement'],
  ['a mode of BLE that is off counts', 'bleTransports', 'options.get(mode)?.decode() === true', 'true', 'proximity/engagement'],
  [
    'a method of another version counts',
    'transportsOf',
    'version?.asUint() !== METHOD_VERSION',
    '!version',
    'proximity/engagement',
  ],
  ['a capability counts with any value', 'capabilitiesIn', '?.decode() === true', ' !== undefined', 'proximity/engagement'],
  [
    'other bytes than those of the code are in the transcript',
    'sessionWith',
    'sessionTranscript(bytes,',
    'sessionTranscript(bytes.slice(1),',
    'proximity/session',
  ],

  // Sessions.
  [
    'the salt is over the transcript without its tag',
    'derived',
    'encodeCbor(new Embedded(new Received(transcript)))',
    'transcript',
    'proximity/session',
  ],
  ['the transcript has no handover', 'sessionTranscript', ', null]', ']', 'proximity/session'],
  ['we send as the phone', 'READER_IV', "'00000000' + '00000000'", "'00000000' + '00000001'", 'proximity/session'],
  ['the phone sends as we do', 'DEVICE_IV', "'00000000' + '00000001'", "'00000000' + '00000000'", 'proximity/session'],
  ['our counter begins with 0', 'READER_IV', "+ '00000001'", "+ '00000000'", 'proximity/session'],
  [
    'the counter of the phone begins with 0',
    'DEVICE_IV',
    "'00000001' + '00000001'",
    "'00000001' + '00000000'",
    'proximity/session',
  ],
  ['both directions have one key', 'sessionKeys', "'SKDevice'", "'SKReader'", 'proximity/session'],
  ['a MAC is made with a key of the messages', 'macKeyOf', "'EMacKey'", "'SKDevice'", 'proximity/session'],
  ['the tag of an answer is not looked at', 'openAnswer', 'decipher.final()', 'Buffer.alloc(0)', 'proximity/session'],
  ['any status ends a session', 'sessionError', 'STATUS_CODES.get(status)', 'STATUS_CODES.get(20)', 'proximity/session'],
] satisfies Slip[]
