import { type Found, ok, warning } from '../db/check.ts'
import { isLocalHost, readOrigins } from '../tenants/origins.ts'
import type { Scene } from './scene.ts'
import { notYet, statesOf } from './signing-checks.ts'

/** The wallet call of browsers: whether it exists on our pages, and what wallets get. */
export async function checkDcApi({ deps, tenants }: Scene): Promise<Found> {
  const { publicUrl, dcApi } = deps.config
  if (dcApi.mode === 'off') return ok('Wallets are not asked through the browser: VIDIMUS_DC_API is off.')
  const states = await statesOf(deps)
  if (!states) return notYet()
  const { protocol, hostname } = URL.parse(publicUrl) ?? {}
  // Browsers have it in secure contexts only (W3C Digital Credentials).
  if (protocol === 'http:' && !isLocalHost(hostname ?? ''))
    return warning(
      `${publicUrl} is plain http: browsers offer their wallet call on https pages only.`,
      'Put a TLS proxy in front, or set VIDIMUS_TLS_CERT; VIDIMUS_DC_API=off if nobody should use it.',
    )
  const isSelfMade = states[0].authority !== null
  if (dcApi.mode === 'signed' && isSelfMade)
    return warning(
      'VIDIMUS_DC_API is signed, but the certificate was issued by this service: wallets do not know who asks.',
      'Have "vidimus signing csr" signed by an authority that your wallets trust, or set VIDIMUS_DC_API=auto.',
    )
  const whose = isSelfMade ? 'made by this service' : 'imported'
  return ok(
    `Browsers are offered ${protocolsOf(dcApi.mode, isSelfMade)}; the certificate was ${whose}; ${await liveOrigins({ deps, tenants })}.`,
  )
}

function protocolsOf(mode: 'auto' | 'signed' | 'unsigned' | 'iso', isSelfMade: boolean): string {
  if (mode === 'iso') return 'org-iso-mdoc'
  const isSigned = mode === 'signed' || (mode === 'auto' && !isSelfMade)
  return `openid4vp-v1-${isSigned ? 'signed' : 'unsigned'} and org-iso-mdoc`
}

async function liveOrigins({ deps, tenants }: Pick<Scene, 'deps' | 'tenants'>): Promise<string> {
  const lists = await Promise.all((await tenants).map(({ id }) => readOrigins(deps, { tenantId: id, environment: 'live' })))
  const count = lists.flat().length
  if (count === 0) return 'in live sessions only pages of this service may ask'
  return count === 1 ? 'one more origin may ask in live sessions' : `${count} more origins may ask in live sessions`
}
