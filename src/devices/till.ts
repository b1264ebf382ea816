import { isoUtc } from '../base/time.ts'
import type { Reading } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import { deviceRequestParts } from '../openid4vp/exchange/device-request.ts'
import { readTemplates, withAliases } from '../templates/read.ts'
import { effectiveRules } from '../templates/rules.ts'
import { readTenant } from '../tenants/settings.ts'
import type { Till, Way } from './schema.ts'

type Asking =
  | { kind: 'key' }
  | {
      kind: 'device'
      name: string
      tenantId: string
      environment: Till['environment']
      allowedTemplates: readonly string[]
      ways: Way[]
    }

/** The till's name, merchant and templates, for its page. */
export async function readTill(deps: Reading, caller: Asking): Promise<Till> {
  if (caller.kind !== 'device')
    throw apiError('insufficient_scope', { message: 'Only devices may call this; use a device token instead of an API key.' })
  const { name, environment, tenantId, allowedTemplates, ways } = caller
  const tenant = await readTenant(deps.db, tenantId)
  const templates = new Map(withAliases(await readTemplates(deps, tenantId)).map(template => [template.key, template]))
  return {
    name,
    environment,
    tenant: tenant?.name ?? '',
    ways,
    templates: allowedTemplates.map(key => {
      const known = templates.get(key)
      if (!known) return { key }
      const ruled = effectiveRules(known.query, known.rules).map(({ claim }) => claim)
      const inPerson = deviceRequestParts(known.query) !== undefined
      return { key, title: known.title, in_person: inPerson, ruled, ...(known.ageOver !== null && { age_over: known.ageOver }) }
    }),
    now: isoUtc(deps.now()),
  }
}
