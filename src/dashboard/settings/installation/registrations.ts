import { apiError } from '../../../http/errors.ts'
import {
  addRegistration,
  presentRegistration,
  RegistrationProblem,
  readRegistrations,
  removeRegistration,
} from '../../../signing/registrations.ts'
import type { Deps } from '../../deps.ts'
import { ownerOf } from './signing.ts'
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
  const { row, notes } = await addRegistration(deps, { text, templates, owner }, actor).catch(error => {
    throw error instanceof RegistrationProblem ? apiError('invalid_request', { message: `certificate: ${error.message}` }) : error
  })
  return { ...presentRegistration(row, deps.now()), notes }
}

export async function dropRegistration(deps: Deps, id: string, actor: string): Promise<void> {
  if (!(await removeRegistration(deps, id, actor))) throw apiError('registration_not_found')
}
