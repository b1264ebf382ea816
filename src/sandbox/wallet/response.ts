import { CompactEncrypt, importJWK } from 'jose'
import { fromBase64, utf8 } from '../bytes.ts'
import type { Mutations } from '../mutations.ts'
import type { PresentationRequest } from './request.ts'

/** Posted to `responseUri`. */
export type WalletResponse = { form: URLSearchParams; responseUri: string }

/** `parameters`: a `vp_token` or an `error`. Encrypted if the request asks for it (OpenID4VP 1.0 § 8.3.1). */
export async function buildResponse(
  request: PresentationRequest,
  parameters: Readonly<Record<string, unknown>>,
  mutations: Mutations,
): Promise<WalletResponse> {
  const state = mutations.state === undefined ? request.state : (mutations.state ?? undefined)
  const members = { ...parameters, ...(state !== undefined && { state }), ...mutations.responseClaims }
  const isEncrypted = request.encryption && !mutations.plain
  const form = isEncrypted ? { response: await encrypt(request.encryption!, members, mutations) } : asText(members)
  return { form: new URLSearchParams(form), responseUri: request.responseUri }
}

export async function encrypt(
  { key, encs }: NonNullable<PresentationRequest['encryption']>,
  members: object,
  { alg = 'ECDH-ES', enc, kid = key.kid, zip, apu, apv }: Mutations,
): Promise<string> {
  const supported = encs.includes('A256GCM') ? 'A256GCM' : 'A128GCM'
  const jwe = new CompactEncrypt(utf8(JSON.stringify(members))).setProtectedHeader({
    alg,
    enc: enc ?? supported,
    ...(kid !== null && { kid }),
    ...(zip && { zip }),
  })
  if (apu !== undefined || apv !== undefined) {
    jwe.setKeyManagementParameters({
      ...(apu !== undefined && { apu: fromBase64(apu) }),
      ...(apv !== undefined && { apv: fromBase64(apv) }),
    })
  }
  return jwe.encrypt(await importJWK({ kty: key.kty, crv: key.crv!, x: key.x!, y: key.y! }, 'ECDH-ES'))
}

const asText = (members: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
