import { apiError } from '../../../http/errors.ts'
import { RegistrationProblem } from '../../../signing/problem.ts'
import { addRegistration, presentRegistration, readRegistrations, removeRegistration } from '../../../signing/registrations.ts'
import type { Deps } from '../../deps.ts'
import { ownerOf, refuseBy } from './signing.ts'
import type { AddedRegistration, AddRegistration, Registration } from './signing-schema.ts'

export async function listRegistrations(deps: Deps): Promise<{ data: Registration[] }> {
  return { data: (await readRegistrations(deps)).map(row => presentRegistration(row, deps.now())) }
}

export async function storeRegistration(
  deps: Deps,
  { certificate: text, templates = [], tenant }: AddRegistration,
  actor: string,
): Promise<AddedRegistration> {
  const owner = await ownerOf(deps, tenant)
  const adding = addRegistration(deps, { text, templates, owner }, actor)
  const { row, notes } = await adding.catch(refuseBy('certificate', RegistrationProblem))
  return { ...presentRegistration(row, deps.now()), notes }
}

export async function dropRegistration(deps: Deps, id: string, actor: string): Promise<void> {
  if (!(await removeRegistration(deps, id, actor))) throw apiError('registration_not_found')
}
