// The name of a person for a client: another one each time, or the same for the same claim of the same authority. The secret
// keeps anybody from guessing who has a name; the authority keeps another issuer's document from taking it.
import { canonicalJson, hmacSha256With } from '../base/hash.ts'
import { newNonce } from '../base/ids.ts'
import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import { mergeClaims } from '../openid4vp/merge-claims.ts'
import { authorityOf } from '../trust/lineage.ts'
import type { Result } from '../verifications/portraits.ts'
import { readAnchors } from '../verifications/timeline.ts'
import { findIssuer, type Issuer } from './client-store.ts'
import type { Deps } from './deps.ts'
import type { LoginRow } from './login-store.ts'

const VALUE_CHARS_MIN = 6

type Session = Parameters<typeof readAnchors>[2]
type Presented = { issuer: Issuer; login: LoginRow; session: Session; result: Result }

/** Undefined when the claim is missing, or no text that could be one person's. */
export async function subjectOf(deps: Deps, tx: Db, { issuer, login, session, result }: Presented): Promise<string | undefined> {
  if (login.subject === 'session') return newNonce(deps.random)
  const name = login.subject.slice('claim:'.length)
  const credentials = result.credentials ?? []
  const shown = credentials.map(credential => mergeClaims([credential])[name])
  const first = shown.findIndex(each => each !== undefined)
  const value = shown[first]
  const text = typeof value === 'string' ? value.normalize('NFC').trim() : ''
  const anchor = (await readAnchors(deps, tx, session))[first]?.anchor
  const authority = anchor && (await authorityOf(tx, anchor))
  const row = await findIssuer(tx, issuer)
  if ([...text].length < VALUE_CHARS_MIN || !authority || !row) return undefined
  const secret = Buffer.from(deps.sealer.open(SEALED.oidcIssuer(issuer, row.salt), row.sealed), 'base64url')
  const named = [login.clientId, authority, credentials[first]!.doctype_or_vct, name, text]
  return hmacSha256With(secret)(canonicalJson(named)).toString('base64url')
}
