// A wallet's encrypted answer: a compact JWE (RFC 7516) with ECDH-ES and AES-GCM, the one form that requests ask for. jose opens
// it, but also takes padding, white space, stray bits, doubled names and `zip`, so the form is checked first.
import { compactDecrypt } from 'jose'
import { decodeBase64url } from '../../base/base64url.ts'
import { parseJson } from '../../base/json.ts'
import { isObject, type Members } from '../../base/members.ts'

const HEADER_DEPTH_MAX = 32
const HEADER_NAMES = new Set(['alg', 'enc', 'kid', 'epk', 'apu', 'apv', 'typ', 'cty'])
/** ECDH-ES agrees on the key itself, so none is encrypted (§ 5.2, step 10). */
const FORM = /^([\w-]+)\.\.([\w-]+)\.([\w-]*)\.([\w-]+)$/
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const ALGORITHMS = { keyManagementAlgorithms: ['ECDH-ES'], contentEncryptionAlgorithms: ['A128GCM', 'A256GCM'] }

/** Undefined for anything but canonical parts, the first a JSON object. */
export function readJweHeader(text: string): Members | undefined {
  const parts = FORM.exec(text)?.slice(1).map(decodeBase64url)
  if (!parts?.[0] || parts.includes(undefined)) return undefined
  try {
    const header = parseJson(UTF_8.decode(parts[0]), { depthMax: HEADER_DEPTH_MAX })
    return isObject(header) ? header : undefined
  } catch {
    // Neither UTF-8 nor JSON.
    return undefined
  }
}

/** `zip` and `crit` would change how the rest is read; the others mean nothing here. */
export const hasOtherName = (header: Members): boolean => Object.keys(header).some(name => !HEADER_NAMES.has(name))

/** The plaintext of a checked form; undefined unless it was encrypted to this key. Never throws. */
export const decryptJwe = (text: string, privateKey: CryptoKey): Promise<Uint8Array | undefined> =>
  compactDecrypt(text, privateKey, ALGORITHMS).then(
    ({ plaintext }) => plaintext,
    () => undefined,
  )
