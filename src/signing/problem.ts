import { type Refusal, type RefusalReason, sayRefusal } from '../words/signing.ts'

/** The message says the reason in English, for commands and the API. */
class Refused extends Error {
  override name = 'Refused'
  readonly reason: RefusalReason
  constructor(...[code, values]: Refusal) {
    const reason = { code, values: values ?? {} }
    super(sayRefusal(reason).en)
    this.reason = reason
  }
}

/** Why a key and chain cannot be used. */
export class SigningProblem extends Refused {
  override name = 'SigningProblem'
}

/** Why a registration certificate is refused. */
export class RegistrationProblem extends Refused {
  override name = 'RegistrationProblem'
}
