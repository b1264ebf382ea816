// The look of a shop's pages: a logo, a colour for the main button, a link to the privacy notice, a line for people without a wallet.
import type { Setting } from '../audit/deps.ts'
import type { Db } from '../db/engine.ts'
import type { Language } from '../words/languages.ts'
import { contrast } from './contrast.ts'
import { findLogo, findLook, type Logo, type LogoType, type Look, upsertLook } from './look-store.ts'

export type { Logo, LogoType, Look } from './look-store.ts'

export const LOGO_BYTES_MAX = 64 * 1024
const PRIVACY_URL_CHARS_MAX = 1000

/** The message says why a look is refused: one sentence with the remedy. */
export class LookProblem extends Error {
  override name = 'LookProblem'
}

export const readLook = async (db: Db, tenantId: string): Promise<Look | undefined> => await findLook(db, tenantId)

export const readLogo = async (db: Db, tenantId: string): Promise<Logo | undefined> => await findLogo(db, tenantId)

/** Null removes a part; a part left out stays as it is. */
type LookChanges = {
  accent?: string | null
  privacyUrl?: string | null
  withoutWallet?: Partial<Record<Language, string>> | null
  logo?: Uint8Array | null
}

export async function setLook(deps: Setting, tenantId: string, changes: LookChanges, actor: string): Promise<Look> {
  const { accent, privacyUrl, withoutWallet, logo } = changes
  if (accent) refuseBadAccent(accent)
  if (privacyUrl) refuseBadPrivacyUrl(privacyUrl)
  const picture = logo === undefined ? {} : logo ? { logo: Buffer.from(logo), logoType: typeOf(logo) } : NO_LOGO
  const at = deps.now()
  return await deps.writeSettings(async tx => {
    const look = await upsertLook(tx, tenantId, { accent, privacyUrl, withoutWallet, ...picture, updatedAt: at })
    const details = {
      accent,
      privacy_url: privacyUrl,
      without_wallet: withoutWallet,
      ...('logoType' in picture && { logo: picture.logoType }),
    }
    await deps.audit.append(tx, { at, tenantId, actor, action: 'tenant.changed', subjectId: tenantId, details })
    return look
  })
}

const NO_LOGO = { logo: null, logoType: null }

function refuseBadAccent(accent: string): void {
  if (!/^#[0-9a-f]{6}$/.test(accent)) throw new LookProblem('a colour is written #1f4fd8: six hexadecimal digits, in lower case')
}

function refuseBadPrivacyUrl(text: string): void {
  const url = text.length <= PRIVACY_URL_CHARS_MAX ? URL.parse(text) : null
  if (url?.protocol !== 'https:' || url.username || url.password)
    throw new LookProblem('the link to the privacy notice is written https://shop.example/privacy')
}

/** The type, from the first bytes. No SVG: it is a document that can run scripts. */
function typeOf(logo: Uint8Array): LogoType {
  if (logo.length > LOGO_BYTES_MAX) throw new LookProblem(`a logo has at most ${LOGO_BYTES_MAX / 1024} KiB; make it smaller`)
  const starts = (hex: string, at = 0) => Buffer.from(logo.subarray(at, at + hex.length / 2)).toString('hex') === hex
  if (starts('89504e470d0a1a0a')) return 'image/png'
  if (starts('ffd8ff')) return 'image/jpeg'
  // RIFF, four bytes of length, WEBP.
  if (starts('52494646') && starts('57454250', 8)) return 'image/webp'
  throw new LookProblem('a logo is a PNG, JPEG or WebP picture')
}

const WHITE = '#ffffff'
const BLACK = '#000000'

/** The colour of text on an accent: one of the two always has a contrast of 4.5 or more (WCAG 2.2 § 1.4.3). */
export const inkOn = (accent: string): string => (contrast(accent, WHITE) >= contrast(accent, BLACK) ? WHITE : BLACK)
