import type { Slip } from './list.ts'

export default [
  [
    'another process is not noticed',
    'createWriterReads',
    'if (foreignChanges === before) settingsVersion--',
    'settingsVersion--',
    'api/authentication',
  ],
  [
    'what cannot be read of another process has not changed',
    'createWriterReads',
    'settingsVersion++ foreignChanges = dataVersion.get()?.data_version ?? 0 if (foreignChanges === before) settingsVersion--',
    'foreignChanges = dataVersion.get()?.data_version ?? 0\n    if (foreignChanges !== before) settingsVersion++',
    'db/writer',
  ],
  ['secure_delete off', 'openWriter', "'secure_delete = ON'", "'secure_delete = OFF'", 'db/writer', 'api/delete-verification'],
  ['synchronous NORMAL', 'openWriter', "'synchronous = FULL'", "'synchronous = NORMAL'", 'db/writer'],
  [
    'a command brings an older database up to date',
    'openDataDir',
    "if (isOlder && role === 'command') throw new OlderDatabase()",
    '',
    'upkeep/upgrade',
  ],
  [
    'a copy of the database counts as the file that was opened',
    'watchPlace',
    'return found === opened',
    'return found !== undefined',
    'db/in-place',
  ],
  [
    'the environment of a secret is not sealed with it',
    'sealed-columns.ts',
    'environment}`',
    "environment ? '' : ''}`",
    'webhooks/rotation',
  ],
] satisfies Slip[]
