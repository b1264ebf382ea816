import { X509Certificate } from 'node:crypto'
import { notSetUp, ok, warning } from '../db/check.ts'
import { readTills } from '../devices/read.ts'
import { oneLine } from '../signing/certificate.ts'
import { signatoriesOf } from '../signing/signatories.ts'
import { BUILTIN_TEMPLATES } from '../templates/builtin.ts'
import { isLocalHost } from '../tenants/origins.ts'
import { latestFailures } from '../verifications/exchange/in-person/failures.ts'
import type { Deps } from './deps.ts'
import type { Scene } from './scene.ts'

const FAILURES_MANY = 3

/** Tills that read phones: whether their page may use Bluetooth, what fails there, and who phones say is asking. */
export async function checkInPerson({ deps, tenants }: Scene) {
  const shops = await shopsWithTills(deps, tenants)
  if (shops.length === 0) return notSetUp('no_tills_in_person')
  const { publicUrl } = deps.config
  const { protocol, hostname } = URL.parse(publicUrl) ?? {}
  // Browsers have camera and Bluetooth in secure contexts only.
  if (protocol === 'http:' && !isLocalHost(hostname ?? '')) return warning('in_person_plain', { publicUrl })
  const failures = await latestFailures(deps)
  if (failures.length >= FAILURES_MANY) return warning('in_person_failing', { failures })
  const readers = await Promise.all(
    shops.map(async ({ id, name, isLive }) => ({ name, isLive, reader: await readerOf(deps, id) })),
  )
  const unknown = readers.filter(({ isLive, reader }) => isLive && !reader).map(({ name }) => name)
  if (unknown.length > 0) return warning('in_person_unknown', { shops: unknown })
  return ok('in_person_ready', { readers: [...new Set(readers.flatMap(({ reader }) => reader ?? []))] })
}

/** `isLive`: with a till for real customers. */
async function shopsWithTills(deps: Deps, tenants: Scene['tenants']) {
  const read = async ({ id, name }: { id: string; name: string }) => {
    const hasTill = async (environment: 'test' | 'live') =>
      (await readTills(deps, { tenantId: id, environment })).some(
        ({ ways, revoked_at }) => revoked_at === undefined && ways.includes('in_person'),
      )
    return { id, name, isTest: await hasTill('test'), isLive: await hasTill('live') }
  }
  return (await Promise.all((await tenants).map(read))).filter(({ isTest, isLive }) => isTest || isLive)
}

/** Subject and last day of the certificate that signs requests for EU documents. */
async function readerOf(deps: Deps, tenantId: string): Promise<string | undefined> {
  const { signingKeyId } = await deps.identity(tenantId)
  const { query } = BUILTIN_TEMPLATES.get('age_over_18')!
  const { each } = await signatoriesOf(deps, { tenantId, signingKeyId, profile: 'haip' }, query, 'in_person')
  if (!each) return undefined
  const { subject, validToDate } = new X509Certificate(each.chain[0]!)
  return `${oneLine(subject)} (${validToDate.toISOString().slice(0, 10)})`
}
