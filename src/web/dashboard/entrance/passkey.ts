// Passkeys in the browser, by its own JSON forms (WebAuthn Level 3 § 5.1). Only what the server reads is sent.
import type { NewPasskey, PasskeyAnswer, PasskeyCreation, PasskeyRequest } from '../../../people/security-schema.ts'
import { ApiFailure } from '../../shared/api.ts'

/** Passkeys work only at the public address, in a secure context, in a browser that knows them. */
export const canUsePasskeys = (origin: string | null): boolean =>
  origin === location.origin && typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function'

export async function answerWithPasskey(request: PasskeyRequest): Promise<PasskeyAnswer> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(request)
  const { id, response } = await json<AuthenticationResponseJSON>(() => navigator.credentials.get({ publicKey }))
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  return { id, response: { clientDataJSON, authenticatorData, signature, ...(userHandle && { userHandle }) } }
}

export async function makePasskey(creation: PasskeyCreation): Promise<NewPasskey> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(creation)
  const { id, response } = await json<RegistrationResponseJSON>(() => navigator.credentials.create({ publicKey }))
  const { clientDataJSON, attestationObject, transports } = response
  return { id, response: { clientDataJSON, attestationObject, transports } }
}

async function json<Made>(ask: () => Promise<Credential | null>): Promise<Made> {
  try {
    return ((await ask()) as PublicKeyCredential).toJSON() as Made
  } catch (error) {
    // Browsers give one name to "cancelled", "timed out" and "no such passkey".
    const code = error instanceof DOMException && error.name === 'InvalidStateError' ? 'passkey_known' : 'passkey_cancelled'
    throw new ApiFailure(0, code, '', undefined)
  }
}
