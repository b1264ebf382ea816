// The content of a wallet, as JSON: the service issues it, the page in the browser keeps it.
import type { PrivateJwk } from './es256.ts'
import type { Json } from './json.ts'
import type { PersonaId } from './personas.ts'

/** The place of a claim: names and array positions, or namespace and element. */
export type Place = readonly (string | number)[]

export type Holder = {
  readonly persona: PersonaId
  readonly deviceKey: PrivateJwk
  readonly credentials: readonly Credential[]
}

export type Credential = SdJwtCredential | MdocCredential

type Issued = {
  /** The vct or doctype. */
  readonly type: string
  /** All claims, including undisclosed ones; of an mdoc by namespace and element. */
  readonly claims: { readonly [name: string]: Json }
  /** Base64url. A query may name them under `trusted_authorities` as `aki`. */
  readonly authorityKeyIds: readonly string[]
}

export type SdJwtCredential = Issued & {
  readonly format: 'dc+sd-jwt'
  /** The issued JWT with all its disclosures, ending in a tilde. */
  readonly sdJwt: string
  /** Disclosures of forged credentials, added to every presentation without being parsed. */
  readonly alsoShown?: readonly string[]
}

export type MdocCredential = Issued & {
  readonly format: 'mso_mdoc'
  /** Base64url. */
  readonly issuerAuth: string
  readonly items: readonly MdocItem[]
}

/** `encoded` is the base64url of `24(<<IssuerSignedItem>>)`: the bytes of the digest. */
export type MdocItem = { readonly at: readonly [namespace: string, element: string]; readonly encoded: string }
