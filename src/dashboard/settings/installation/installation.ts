import { version } from '../../../../package.json' with { type: 'json' }
import { addressKind } from '../../../doctor/address.ts'
import { hasLiveKeys } from '../../../doctor/scene.ts'
import type { Deps } from '../../deps.ts'
import type { Installation } from './schema.ts'

/** Settings from the environment of the service; the dashboard cannot change them. */
export const readInstallation = async ({ config, registrationCertificate, ...deps }: Deps): Promise<Installation> => ({
  version,
  public_url: config.publicUrl,
  address: addressKind(config.publicUrl),
  has_live_keys: await hasLiveKeys(deps),
  wallet_profile: config.wallet.profile,
  wallet_scheme: config.wallet.linkStart,
  client_id_prefix: config.wallet.clientIdPrefix,
  has_registration_certificate: registrationCertificate !== undefined,
  egress_allow: config.egressAllow.map(({ address, prefix, port }) => `${address}/${prefix}:${port}`),
  webhook_delays_ms: config.webhookDelaysMs,
})
