import { useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { ApiFailure } from '../../shared/api.ts'
import { callOpen } from '../client.ts'
import { EntranceForm, EntranceFrame } from './entrance-frame.tsx'
import { useEntranceWords } from './words.ts'

/** A link in a mail that asks whether an address is right. Only the button uses it up: programs that look into mail open links too. */
export function ConfirmMail({ token, onLogIn }: { token: string; onLogIn: () => void }) {
  const words = useEntranceWords()
  const [isConfirmed, setIsConfirmed] = useState(false)
  const confirm = async () => {
    try {
      await callOpen('mail/confirm', { token })
    } catch (problem) {
      // A malformed token is shown like a used one.
      throw problem instanceof ApiFailure && problem.status === 400
        ? new ApiFailure(404, 'link_unavailable', '', undefined)
        : problem
    }
    setIsConfirmed(true)
  }
  if (!isConfirmed)
    return (
      <EntranceForm title={words.confirmMail} intro={words.confirmMailMore} verb={words.confirmMailDo} onSubmit={confirm}>
        {null}
      </EntranceForm>
    )
  return (
    <EntranceFrame title={words.mailConfirmed}>
      <Button kind="primary" onClick={onLogIn}>
        {words.toLogin}
      </Button>
    </EntranceFrame>
  )
}
