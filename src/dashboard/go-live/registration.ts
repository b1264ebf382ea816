import { coverage } from '../../openid4vp/exchange/registration.ts'
import { type SigningState, signingState } from '../../signing/certificate.ts'
import { organizationOf } from '../../signing/keys.ts'
import { SigningProblem } from '../../signing/problem.ts'
import { choose, isCurrent, isOfSame, storedFor } from '../../signing/registration-choice.ts'
import { readRegistrations } from '../../signing/registrations.ts'
import { askedBy } from '../../templates/minimise.ts'
import type { KnownTemplate } from '../../templates/read.ts'
import type { Deps } from '../deps.ts'
import type { GoLive } from './schema.ts'

const PID = /^(?:urn:eudi:pid:|eu\.europa\.ec\.eudi\.pid\.)/

export type RegistrationFacts = {
  /** `unsound`: there are some, but they have ended or are of another organisation. */
  state: 'none' | 'unsound' | 'held'
  /** Keys of templates that ask EU wallets for more than registered. */
  beyond: string[]
  /** The first that ends, by its purpose. */
  ending: { name: string; at: number } | null
  /** Purposes that customers read, and those that the registrar was told; nothing compares the two. */
  purposes: GoLive['purposes']
}

const NOTHING: Omit<RegistrationFacts, 'state'> = { beyond: [], ending: null, purposes: [] }

/** The registration certificates that a shop's requests carry for EU wallets; `templates` are those in use. */
export async function registrationOf(
  deps: Deps,
  tenantId: string,
  templates: readonly KnownTemplate[],
): Promise<RegistrationFacts> {
  const at = deps.now()
  const state = await signingOf(deps, tenantId)
  if (!state) return { state: 'none', ...NOTHING }
  const signer = { tenantId: state.isOwn ? tenantId : null, organization: organizationOf(state.chain) }
  const stored = storedFor(await readRegistrations(deps), tenantId, signer)
  // The file of VIDIMUS_REGISTRATION_CERT goes with the installation's certificate only.
  const isSet = deps.registrationCertificate !== undefined && !state.isOwn
  if (stored.length === 0) return { state: isSet ? 'held' : 'none', ...NOTHING }
  const usable = stored.filter(row => isCurrent(row, at) && isOfSame(row, signer.organization))
  if (usable.length === 0) return { state: 'unsound', ...NOTHING }
  const asking = templates.filter(
    ({ query, profile }) => profile !== 'eu-av' && askedBy(query).some(({ types }) => types.some(type => PID.test(type))),
  )
  const chosen = asking.map(({ key, aliasOf, query, purpose }) => {
    const registration = choose(stored, { at, signer, names: [key, aliasOf], query })
    const { asked, covered } = coverage(registration?.credentials ?? [], query)
    return { key, purpose, isBeyond: covered < asked, registered: registration?.purposes ?? [] }
  })
  const endings = usable.flatMap(({ id, purposes, notAfter }) =>
    notAfter === null ? [] : [{ name: purposes[0]?.value ?? id, at: notAfter }],
  )
  const [ending = null] = endings.toSorted((a, b) => a.at - b.at)
  return {
    state: 'held',
    beyond: chosen.filter(({ isBeyond }) => isBeyond).map(({ key }) => key),
    ending,
    purposes: chosen
      .filter(({ registered }) => registered.length > 0)
      .map(({ key: template, purpose, registered }) => ({ template, purpose, registered })),
  }
}

/** Undefined before the first start of the service. */
export async function signingOf(deps: Deps, tenantId: string | null): Promise<SigningState | undefined> {
  try {
    return await signingState(deps, tenantId)
  } catch (error) {
    if (error instanceof SigningProblem) return undefined
    throw error
  }
}
