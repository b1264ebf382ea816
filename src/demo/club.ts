import { createClient, readClients } from '../oidc/clients.ts'
import type { Deps } from './deps.ts'
import type { Demo } from './furnish.ts'
import type { DemoClub } from './schema.ts'

const NAME = 'Wine club'

/** A page of the demo, without a server, where people log in with their wallet. Its address is known once the service listens. */
export async function openClub(deps: Deps, { tenantId }: Demo): Promise<DemoClub> {
  const wanted = {
    name: NAME,
    redirect_uris: [`${deps.config.publicUrl}/demo`],
    templates: ['age_over_18'],
    auth: 'none' as const,
  }
  const known = (await readClients(deps, tenantId)).find(({ name }) => name === NAME)
  const { issuer, id } = known ?? (await createClient(deps, { tenantId, environment: 'test' }, wanted, 'demo'))
  return { issuer, id }
}
