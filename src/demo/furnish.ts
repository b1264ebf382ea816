import { createKey } from '../access/keys.ts'
import { SCOPES } from '../access/scopes.ts'
import type { DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import { saveTemplate } from '../templates/save.ts'
import { createTenant } from '../tenants/settings.ts'
import { keepEndpoint } from '../tenants/webhook-endpoint.ts'
import type { Deps } from './deps.ts'
import type { Receiver } from './receiver.ts'

const ACTOR = 'demo'

/** A template of the shop's own. */
const PARCEL = {
  key: 'parcel',
  title: 'Name, for a parcel',
  translations: { de: { title: 'Name, für ein Paket' } },
  query: {
    credentials: [
      {
        id: 'pid',
        format: 'dc+sd-jwt',
        meta: { vct_values: ['urn:eudi:pid:1'] },
        claims: [{ path: ['given_name'] }, { path: ['family_name'] }],
      },
    ],
  } satisfies DcqlQuery,
}

/** Templates of the till. */
export const TEMPLATES = ['age_over_18', 'age_over_18_photo', 'identity_basic', 'driving_licence', PARCEL.key]

export type Demo = { tenantId: string; shop: string; key: string; receiver: Receiver }

export async function furnishDemo(deps: Deps, receiver: Receiver): Promise<Demo> {
  const shop = 'Corner shop'
  const { tenant, webhookSecret } = await createTenant(deps, { name: shop }, ACTOR)
  receiver.trust(webhookSecret)
  await keepEndpoint(deps, { tenantId: tenant.id, environment: 'test' }, receiver.url, ACTOR)
  await saveTemplate(deps, { tenantId: tenant.id, ...PARCEL }, ACTOR)
  const { key } = await createKey(deps, { tenantId: tenant.id, environment: 'test', scopes: SCOPES, label: 'demo', actor: ACTOR })
  return { tenantId: tenant.id, shop, key, receiver }
}
