/** In the order they are shown: first what a wallet meets, then what an operator looks after. */
export const CHECKS = [
  'server',
  'public_url',
  'tls',
  'client_id',
  'signing_certificate',
  'registration',
  'dc_api',
  'in_person',
  'openid_provider',
  'trust_anchors',
  'trust_lists',
  'status_lists',
  'webhooks',
  'extra_ca',
  'clock',
  'database',
  'master_key',
  'wrapping_keys',
  'disk',
  'backups',
  'open_files',
  'second_factor',
  'mail',
] as const

export type CheckName = (typeof CHECKS)[number]
