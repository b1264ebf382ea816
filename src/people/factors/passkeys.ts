// Passkeys (WebAuthn). A challenge says by itself what it is for and how long it counts, so that
// asking costs no row; one that was answered is kept until then, so that no answer counts twice.

import { equalConstantTime, hmacSha256With, sha256Hex } from '../../base/hash.ts'
import { isIP } from '../../base/ip.ts'
import type { Db } from '../../db/engine.ts'
import type { Configured, Reading, Sealing } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import type { Deps } from '../deps.ts'
import type { NewPasskey, PasskeyAnswer, PasskeyCreation, PasskeyRequest } from '../security-schema.ts'
import type { UserRow } from '../store.ts'
import { insertChallenge, listPasskeys, markPasskeyUsed, type PasskeyRow } from './factor-store.ts'

const CHALLENGE_MS = 300_000
const NONCE_BYTES = 16
const TIME_BYTES = 6
const MAC_BYTES = 16
/** EdDSA, ES256, RS256 (RFC 8152, RFC 8812). */
const ALGORITHMS = [-8, -7, -257]

export type Purpose = 'second_factor' | 'passkey_sign_in' | 'passkey_add' | 'confirm'
/** `userId` is empty while a passkey alone signs in. */
type ChallengeOwner = { purpose: Purpose; userId: string }
type PasskeyDeps = Reading & Sealing & Configured

/** Browsers know passkeys by a host name, in a secure context. */
export function passkeySite({ publicUrl }: { publicUrl: string }): { rpId: string; origin: string } | undefined {
  const { protocol, hostname, origin } = new URL(publicUrl)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  if (isIP(hostname.replace(/^\[|\]$/g, '')) || !(protocol === 'https:' || isLocal)) return undefined
  return { rpId: hostname, origin }
}

/** Undefined where the page is open at another origin: the browser would refuse. */
function siteOf({ config }: Configured, origin: string | null) {
  const site = passkeySite(config)
  return site && origin === site.origin ? site : undefined
}

/** Undefined where passkeys cannot be used. Without a user, any passkey of this site may answer. */
export async function askPasskey(
  deps: PasskeyDeps,
  { purpose, user }: { purpose: Purpose; user?: UserRow },
  origin: string | null,
): Promise<PasskeyRequest | undefined> {
  const site = siteOf(deps, origin)
  const known = user ? await listPasskeys(deps.db, user.id) : []
  if (!site || (user && known.length === 0)) return undefined
  return {
    challenge: newChallenge(deps, { purpose, userId: user?.id ?? '' }),
    rpId: site.rpId,
    timeout: CHALLENGE_MS,
    userVerification: 'required',
    allowCredentials: known.map(descriptorOf),
  }
}

export async function askNewPasskey(deps: PasskeyDeps, user: UserRow, origin: string | null): Promise<PasskeyCreation> {
  const site = siteOf(deps, origin)
  if (!site) throw apiError('passkey_unavailable')
  return {
    challenge: newChallenge(deps, { purpose: 'passkey_add', userId: user.id }),
    rp: { id: site.rpId, name: 'Vidimus' },
    user: { id: Buffer.from(user.id).toString('base64url'), name: user.name, displayName: user.name },
    timeout: CHALLENGE_MS,
    attestation: 'none',
    pubKeyCredParams: ALGORITHMS.map(alg => ({ type: 'public-key', alg })),
    excludeCredentials: (await listPasskeys(deps.db, user.id)).map(descriptorOf),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  }
}

const descriptorOf = ({ id, transports }: PasskeyRow) => ({ type: 'public-key' as const, id, transports })

/** Spends the challenge and counts the use; false when either was done before. */
type Proven = { spend: (tx: Db) => Promise<boolean> }

/** Undefined when the answer does not prove that the user of this passkey is here. */
export async function checkPasskey(
  deps: PasskeyDeps,
  asked: ChallengeOwner,
  row: PasskeyRow,
  { id, response }: PasskeyAnswer,
): Promise<Proven | undefined> {
  const site = passkeySite(deps.config)
  const challenge = readChallenge(deps, asked, response.clientDataJSON)
  const handle = response.userHandle
  if (!site || !challenge || (handle !== undefined && Buffer.from(handle, 'base64url').toString() !== row.userId))
    return undefined
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
      expectedChallenge: challenge.text,
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      requireUserVerification: true,
      credential: { id: row.id, publicKey: Uint8Array.from(row.publicKey), counter: row.signatures },
    })
    if (!verified) return undefined
    const next = { count: authenticationInfo.newCounter, at: deps.now() }
    return { spend: async tx => (await spendChallenge(tx, asked, challenge)) && (await markPasskeyUsed(tx, row, next)) }
  } catch {
    // The library throws for every answer that is not right; all of them are refused alike.
    return undefined
  }
}

type MadePasskey = Pick<PasskeyRow, 'id' | 'publicKey' | 'signatures' | 'transports'> & Proven

/** Undefined when it was not made for this site and this user just now. */
export async function checkNewPasskey(
  deps: PasskeyDeps,
  user: UserRow,
  { id, response }: NewPasskey,
): Promise<MadePasskey | undefined> {
  const asked: ChallengeOwner = { purpose: 'passkey_add', userId: user.id }
  const site = passkeySite(deps.config)
  const challenge = readChallenge(deps, asked, response.clientDataJSON)
  if (!site || !challenge) return undefined
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: { clientDataJSON: response.clientDataJSON, attestationObject: response.attestationObject },
      },
      expectedChallenge: challenge.text,
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (!verified || registrationInfo.credential.id !== id) return undefined
    const { publicKey, counter } = registrationInfo.credential
    const made = { id, publicKey: Buffer.from(publicKey), signatures: counter, transports: response.transports ?? [] }
    return { ...made, spend: tx => spendChallenge(tx, asked, challenge) }
  } catch {
    // The library throws here too for every answer that is not right.
    return undefined
  }
}

type Challenge = { text: string; expiresAt: number }

function newChallenge({ now, random, sealer }: PasskeyDeps, asked: ChallengeOwner): string {
  const head = Buffer.alloc(NONCE_BYTES + TIME_BYTES)
  head.set(random(NONCE_BYTES))
  head.writeUIntBE(now() + CHALLENGE_MS, NONCE_BYTES, TIME_BYTES)
  return Buffer.concat([head, macOf(sealer, asked, head)]).toString('base64url')
}

/** The challenge that an answer names, if we asked it for this purpose and it still counts. */
function readChallenge({ now, sealer }: PasskeyDeps, asked: ChallengeOwner, clientDataJSON: string): Challenge | undefined {
  const text = challengeIn(clientDataJSON)
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== NONCE_BYTES + TIME_BYTES + MAC_BYTES) return undefined
  const head = bytes.subarray(0, NONCE_BYTES + TIME_BYTES)
  const expiresAt = head.readUIntBE(NONCE_BYTES, TIME_BYTES)
  const isOurs = equalConstantTime(macOf(sealer, asked, head).toString('hex'), bytes.subarray(head.length).toString('hex'))
  return isOurs && expiresAt > now() ? { text, expiresAt } : undefined
}

function challengeIn(clientDataJSON: string): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge?: unknown }
    return typeof challenge === 'string' ? challenge : ''
  } catch {
    // Anybody can send anything; it is no answer to us.
    return ''
  }
}

const macOf = (sealer: Deps['sealer'], { purpose, userId }: ChallengeOwner, head: Uint8Array): Buffer =>
  hmacSha256With(sealer.key('passkey challenge'))(`${purpose}\0${userId}\0`, head).subarray(0, MAC_BYTES)

const spendChallenge = (tx: Db, { purpose, userId }: ChallengeOwner, { text, expiresAt }: Challenge): Promise<boolean> =>
  insertChallenge(tx, {
    hash: sha256Hex(text),
    purpose,
    userId: userId || null,
    challenge: text,
    failures: 0,
    expiresAt,
  })
