// Errors that a wallet makes on purpose, one by one: personas cheat with them, and tests use them for negative cases. A mutation
// changes one thing and signs the rest properly, so that only one check should fail.
import type { Cbor } from './cbor.ts'
import type { PrivateJwk } from './es256.ts'
import type { EphemeralKey, Point } from './phone/curves.ts'
import type { SessionKeys } from './phone/session.ts'

/** Credential query id → presentations. */
export type VpToken = Readonly<Record<string, readonly string[]>>

/** `transcript`: the one that the device signed. */
type PhoneSession = { key: EphemeralKey; readerKey: Point; transcript: Cbor; keys: SessionKeys }

export type Mutations = {
  // Both formats.
  /** The first presented claim (a boolean, if there is one) differs from the signed one. */
  readonly tamperClaim?: boolean
  /** The proof of possession is signed with another key. */
  readonly otherKey?: boolean
  /** The last bit of the issuer's signature is wrong. */
  readonly issuerSignatureFlip?: boolean
  /** The last bit of the holder's signature is wrong. */
  readonly holderSignatureFlip?: boolean
  /** One claim more than asked for; a string is appended to an SD-JWT as a disclosure of its own. */
  readonly extraDisclosure?: boolean | string
  /** The first requested claim is withheld. */
  readonly dropDisclosure?: boolean
  /** The first presented disclosure or item is sent twice. */
  readonly repeatDisclosure?: boolean

  // Key binding of an SD-JWT.
  readonly dropKb?: boolean
  readonly kbNonce?: string
  readonly kbAud?: unknown
  /** In seconds. */
  readonly kbIat?: unknown
  readonly sdHash?: string
  readonly kbTyp?: string
  readonly kbAlg?: string
  /** Further claims; an undefined one removes the default. */
  readonly kbClaims?: Readonly<Record<string, unknown>>

  // Device authentication of an mdoc.
  readonly transcriptNonce?: string
  readonly transcriptClientId?: string
  readonly transcriptResponseUri?: string
  /** The page that the device signs for. */
  readonly transcriptOrigin?: string
  /** The device signs as if it had scanned the QR code. */
  readonly redirectTranscript?: boolean
  /** The device signs over this handover: its name, and what is hashed. */
  readonly handover?: readonly [name: string, info: Cbor]
  /** The thumbprint in the handover. */
  readonly thumbprint?: Uint8Array | null
  /** `absent`: no deviceSigned; `empty`: deviceAuth without a member; `mac`: a MAC nobody announced. */
  readonly deviceAuth?: 'absent' | 'empty' | 'mac'
  /** Namespace → element → value, signed by the device. */
  readonly deviceClaims?: Readonly<Record<string, Readonly<Record<string, Cbor>>>>
  /** The document type beside the signed one. */
  readonly docType?: string
  readonly documentCount?: number
  readonly deviceResponseVersion?: string
  readonly deviceResponseStatus?: number

  // Annex C, through the browser.
  /** The transcript that the answer is sealed for. */
  readonly sealedOrigin?: string
  readonly sealedInfo?: string
  readonly hpkeAad?: Uint8Array
  /** Sealed to this point instead of the one asked for. */
  readonly recipientPoint?: Uint8Array
  /** Documents, encoded, that are added to the answer. */
  readonly moreDocuments?: readonly Cbor[]

  // In person.
  /** The device signs a transcript with another code, another key of the reader, or another handover. */
  readonly transcriptParts?: readonly [code?: Uint8Array, readerKey?: Uint8Array, handover?: Cbor]
  /** Proves possession over DeviceAuthentication by other members of DeviceAuth than a signature. */
  readonly prove?: (authentication: Uint8Array, by: { transcript: Cbor; key: PrivateJwk }) => Promise<Record<string, Cbor>>
  /** Encrypts a DeviceResponse in another way. */
  readonly seal?: (response: Uint8Array, session: PhoneSession) => Promise<Uint8Array>
  readonly sessionData?: (members: Map<string, Cbor>) => Map<string, Cbor>

  // The token and its envelope.
  /** Changes each presentation before it is sent. */
  readonly presentation?: (text: string, credentialId: string) => string
  /** Sends this token, recorded in another session. */
  readonly replay?: VpToken
  /** `bare_string` and `array` are shapes of drafts before 1.0. */
  readonly vpTokenShape?: 'bare_string' | 'array' | 'empty_array' | 'json_text' | 'unknown_id' | 'absent'
  /** null: none is sent. */
  readonly state?: string | null
  /** Further members beside `vp_token` and `state`. */
  readonly responseClaims?: Readonly<Record<string, unknown>>
  /** Unencrypted although encryption was requested. */
  readonly plain?: boolean
  readonly alg?: string
  readonly enc?: string
  /** null: none is sent. */
  readonly kid?: string | null
  readonly zip?: 'DEF'
  readonly apu?: string
  readonly apv?: string
}
