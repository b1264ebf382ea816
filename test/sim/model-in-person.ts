// The part of the model about phones that are read in person: the caller carries the messages.
import {
  admit,
  answer,
  type Caller,
  type Model,
  openToWallet,
  type Phone,
  Refusal,
  type Session,
  type Verdict,
  visibleTo,
} from './model.ts'

/** Only mdocs are shown in person, and nothing leads to a redirect that would release the answer. */
const isAskable = ({ template, formats, isReleasedByCode }: Session): boolean =>
  template !== undefined && (formats?.includes('mso_mdoc') ?? true) && !isReleasedByCode

/** `phone`: undefined for a text that is no code of a phone. */
export function scan(model: Model, caller: Caller, session: Session, phone: Phone | undefined): void {
  openToCaller(model, caller, session)
  if (!phone) throw new Refusal('invalid_engagement')
  if (!isAskable(session)) throw new Refusal('not_askable_in_person')
  if (session.phones.at(-1) !== phone) session.phones.push(phone)
}

/** `phone`: the one that answered, or undefined for a message of none. */
export function takeAnswer(model: Model, caller: Caller, session: Session, phone: Phone | undefined, verdict: Verdict): void {
  openToCaller(model, caller, session)
  if (!phone || session.phones.at(-1) !== phone) throw new Refusal('invalid_wallet_response')
  if (phone.declines) {
    session.phones = []
    return
  }
  answer(model, session, verdict)
  // The caller that read a phone has the answer.
  session.code = undefined
}

function openToCaller(model: Model, caller: Caller, session: Session): void {
  expectSeen(model, caller, session)
  openToWallet(model, session)
}

/** Taken after the end of the session, too. */
export function expectSeen(model: Model, caller: Caller, session: Session): void {
  admit(model, caller, 'verifications:create')
  if (!visibleTo(model, caller).includes(session)) throw new Refusal('session_not_found')
}
