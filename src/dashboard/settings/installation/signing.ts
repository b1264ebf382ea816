import { DAY_MS, parseUtcInstant } from '../../../base/time.ts'
import { apiError } from '../../../http/errors.ts'
import { type KeyOwner, lifeOf, signingState, signingStates } from '../../../signing/certificate.ts'
import { importSigningKey } from '../../../signing/import.ts'
import { hostOf } from '../../../signing/keys.ts'
import { presentSigning } from '../../../signing/present.ts'
import { type RegistrationProblem, SigningProblem } from '../../../signing/problem.ts'
import { presentReader, readReaders } from '../../../signing/readers.ts'
import { cancelScheduled, removeSigningKeys } from '../../../signing/remove.ts'
import { certificateRequest, requestNewKey } from '../../../signing/request.ts'
import { readTenant } from '../../../tenants/settings.ts'
import { readAccessAuthorities } from '../../../trust/lists/sources.ts'
import type { Deps } from '../../deps.ts'
import type { ImportedSigning, ImportSigning, InstallationSigning, NewSigningKey, Signing } from './signing-schema.ts'

export const readSigning = async (deps: Deps): Promise<InstallationSigning> => ({
  ...presentSigning(await signingState(deps), deps.now()),
  readers: (await readReaders(deps)).map(reader => ({
    tenant: reader.owner,
    ...presentReader(reader),
    days_left: Math.floor((reader.notAfter - deps.now()) / DAY_MS),
    expires_soon: lifeOf(reader, deps.now()) !== 'good',
  })),
})

/** Tenants that have a certificate of their own, or wait for one. */
export async function readTenantSigning(deps: Deps): Promise<{ data: Signing[] }> {
  const [, ...states] = await signingStates(deps)
  return { data: states.map(state => presentSigning(state, deps.now())) }
}

export const readSigningRequest = async (deps: Deps, tenant: string | undefined): Promise<{ csr: string }> => ({
  csr: await certificateRequest(deps, { owner: await ownerOf(deps, tenant), host: hostOf(deps.config.publicUrl) }).catch(
    refuseBy('tenant'),
  ),
})

export async function makeSigningKey(deps: Deps, { subject, tenant }: NewSigningKey, actor: string): Promise<{ csr: string }> {
  const request = { owner: await ownerOf(deps, tenant), host: hostOf(deps.config.publicUrl), subject }
  return { csr: await requestNewKey(deps, request, actor).catch(refuseBy('subject')) }
}

export async function importSigning(
  deps: Deps,
  { chain, key, from, tenant }: ImportSigning,
  actor: string,
): Promise<ImportedSigning> {
  const wanted = {
    chainPem: chain,
    keyPem: key,
    owner: await ownerOf(deps, tenant),
    from: from === undefined ? undefined : parseUtcInstant(from),
    authorities: await readAccessAuthorities(deps),
  }
  const { state, notes } = await importSigningKey(deps, wanted, actor).catch(refuseBy('chain'))
  return { ...presentSigning(state, deps.now()), notes }
}

export async function cancelSigning(deps: Deps, tenant: string | undefined, actor: string): Promise<Signing> {
  const owner = await ownerOf(deps, tenant)
  return presentSigning(await cancelScheduled(deps, owner, actor).catch(refuseBy('tenant')), deps.now())
}

export async function removeSigning(deps: Deps, tenant: string, actor: string): Promise<Signing> {
  await ownerOf(deps, tenant)
  return presentSigning(await removeSigningKeys(deps, tenant, actor).catch(refuseBy('tenant')), deps.now())
}

export async function ownerOf({ db }: Deps, tenant: string | undefined): Promise<KeyOwner> {
  if (tenant !== undefined && !(await readTenant(db, tenant))) throw apiError('tenant_not_found')
  return tenant ?? null
}

/** `field` is the member of the request that it is about. */
export const refuseBy =
  (field: string, Problem: typeof SigningProblem | typeof RegistrationProblem = SigningProblem) =>
  (error: unknown): never => {
    if (!(error instanceof Problem)) throw error
    throw apiError('invalid_request', { message: `${field}: ${error.message}`, reason: error.reason })
  }
