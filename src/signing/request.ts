import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Setting } from '../audit/deps.ts'
import { findNameFlaw } from '../base/plain-text.ts'
import type { Reading, Sealing, Unsealing } from '../ground.ts'
import { ALGORITHM, library } from './authority.ts'
import type { KeyOwner } from './certificate.ts'
import { openPrivateKey, sealSigningKey } from './keys.ts'
import { leavesAt } from './leaves.ts'
import { SigningProblem } from './problem.ts'
import { deletePending, insertSigningKey, listLeavesOf, listPending } from './store.ts'

/** An authority may take weeks, and the operator may have asked several. */
const PENDING_MAX = 10

export type Request = {
  owner: KeyOwner
  host: string
  /** A distinguished name; the authority replaces it anyway. */
  subject?: string
}

/** A request for the newest key that waits for its certificate, else for the current key. */
export async function certificateRequest(deps: Reading & Unsealing, request: Request): Promise<string> {
  return await requestFor(await newestKey(deps, request.owner), request)
}

async function newestKey(deps: Reading & Unsealing, owner: KeyOwner): Promise<KeyObject> {
  const [pending] = await listPending(deps.db, owner)
  const row = pending ?? leavesAt(await listLeavesOf(deps.db, owner), deps.now()).current.get(owner)
  if (row) return openPrivateKey(deps, row)
  throw new SigningProblem(owner === null ? 'no_signing_key' : 'no_own_key')
}

/** A request for a new key, which waits for its certificate; the current one signs until then. */
export async function requestNewKey(deps: Sealing & Setting, request: Request, actor: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const csr = await requestFor(privateKey, request)
  const { owner } = request
  const at = deps.now()
  const row = sealSigningKey(deps, {
    at,
    role: 'pending',
    chain: '',
    clientId: '',
    notAfter: 0,
    tenantId: owner,
    privateKey,
  })
  await deps.writeSettings(async tx => {
    const surplus = (await listPending(tx, owner)).slice(PENDING_MAX - 1).map(({ id }) => id)
    if (surplus.length > 0) await deletePending(tx, surplus)
    await insertSigningKey(tx, row)
    const tenantId = owner ?? ''
    await deps.audit.append(tx, { at, tenantId, actor, action: 'signing.requested', subjectId: row.id, details: {} })
  })
  return csr
}

async function requestFor(key: KeyObject, { host, subject }: Request): Promise<string> {
  const x509 = await library()
  const privateKey = await crypto.subtle.importKey('jwk', key.export({ format: 'jwk' }), ALGORITHM, true, ['sign'])
  const publicJwk = createPublicKey(key).export({ format: 'jwk' })
  const keys = { privateKey, publicKey: await crypto.subtle.importKey('jwk', publicJwk, ALGORITHM, true, ['verify']) }
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject === undefined ? `CN=${host}` : readName(x509, subject),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
  })
  return `${request.toString('pem')}\n`
}

/** The library knows this attribute by its number only. */
const ORGANIZATION_IDENTIFIER = /\borganizationIdentifier\s*=/gi

function readName({ Name }: Awaited<ReturnType<typeof library>>, subject: string) {
  try {
    const name = new Name(subject.replace(ORGANIZATION_IDENTIFIER, '2.5.4.97='))
    refuseUnseen(subject, name.toJSON())
    if (name.toJSON().length > 0) return name
  } catch (error) {
    // Other errors are the same as for a text without any attribute.
    if (error instanceof SigningProblem) throw error
  }
  throw new SigningProblem('subject_unreadable')
}

/** The values are looked at too: an escape such as \0A in the text becomes a character there. */
function refuseUnseen(subject: string, attributes: Record<string, string[]>[]): void {
  const texts = [subject, ...attributes.flatMap(each => Object.values(each).flat())]
  const flaw = texts.map(findNameFlaw).find(each => each !== undefined)
  if (flaw) throw new SigningProblem('subject_refused', { flaw })
}
