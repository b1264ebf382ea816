import { createHash } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Configured, Timing } from '../ground.ts'
import type { Claims } from './claims.ts'
import type { ClientRow, Issuer } from './client-store.ts'
import { acrOf } from './discovery.ts'
import type { TokenSigners } from './keys.ts'
import { issuerOf } from './present.ts'

const LIFETIME_SECONDS = 300

type Told = {
  issuer: Issuer
  client: ClientRow
  session: { id: string; respondedAt: number | null }
  sub: string
  nonce: string | undefined
  token: string
  claims: Claims
}

/** OpenID Connect Core § 2. Clients compare its times with their clocks. */
export async function signIdToken(
  { config, wall, tokenSigners }: Configured & Timing & { tokenSigners: TokenSigners },
  { issuer, client, session, sub, nonce, token, claims }: Told,
): Promise<string> {
  const { kid, key } = await tokenSigners(issuer, client.id_token_alg)
  const iat = Math.floor(wall() / 1000)
  const answered = Math.floor(session.respondedAt! / 1000)
  return await new SignJWT({
    ...(client.id_token_claims === 1 && claims),
    iss: issuerOf(config, issuer),
    sub,
    aud: client.id,
    iat,
    exp: iat + LIFETIME_SECONDS,
    auth_time: Math.min(answered, iat),
    ...(nonce !== undefined && { nonce }),
    acr: acrOf(issuer),
    // Possession of the document's key was proven; whether in hardware, nobody says (RFC 8176).
    amr: ['pop'],
    at_hash: createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url'),
    txn: session.id,
  })
    .setProtectedHeader({ alg: client.id_token_alg, typ: 'JWT', kid })
    .sign(key)
}
