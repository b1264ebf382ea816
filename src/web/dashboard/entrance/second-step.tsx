import { useState } from 'preact/hooks'
import type { Session } from '../../../people/schema.ts'
import type { HalfLogin } from '../../../people/security-schema.ts'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Notice } from '../../kit/notice.tsx'
import { useAction } from '../action.ts'
import { callOpen } from '../client.ts'
import { Problem } from '../parts/problem.tsx'
import { CodeField } from './code-field.tsx'
import { EntranceFrame } from './entrance-frame.tsx'
import { answerWithPasskey, canUsePasskeys } from './passkey.ts'
import { useWait } from './wait.ts'
import { useEntranceWords } from './words.ts'

type Props = { half: HalfLogin; onIn: (session: Session) => void; onBack: () => void }

/** The step after the password: the second factor, or a recovery code. */
export function SecondStep({ half, onIn, onBack }: Props) {
  const words = useEntranceWords()
  const passkey = half.passkey && canUsePasskeys(location.origin) ? half.passkey : undefined
  const [isRecovering, setIsRecovering] = useState(!half.has_codes && !passkey)
  const [code, setCode] = useState('')
  const finish = async (proof: object) => onIn(await callOpen<Session>('login/second-factor', { ticket: half.ticket, ...proof }))
  const byPasskey = useAction(async () => passkey && (await finish({ passkey: await answerWithPasskey(passkey) })))
  const byCode = useAction(() => finish({ code }))
  const waitSeconds = useWait(byCode.problem)
  const swap = () => {
    setIsRecovering(!isRecovering)
    setCode('')
    byCode.clear()
  }
  return (
    // Remounted for the recovery code, so that its field takes the focus.
    <EntranceFrame key={String(isRecovering)} title={words.secondStep}>
      <p class="secondary">{isRecovering ? words.recoveryMore : words.secondStepMore}</p>
      {passkey && !isRecovering && (
        <>
          <Button kind="primary" wide busy={byPasskey.isBusy} onClick={() => byPasskey.run()}>
            <Icon name="key" />
            {words.usePasskey}
          </Button>
          <Problem of={byPasskey.problem} />
        </>
      )}
      {(half.has_codes || isRecovering) && (
        <form class="stack" onSubmit={byCode.submit}>
          <CodeField isRecovery={isRecovering} value={code} onText={setCode} />
          {waitSeconds > 0 ? (
            <Notice tone="wait" alert>
              {words.waiting(waitSeconds)}
            </Notice>
          ) : (
            <Problem of={byCode.problem} />
          )}
          <Button
            kind={passkey && !isRecovering ? 'plain' : 'primary'}
            wide
            type="submit"
            busy={byCode.isBusy}
            disabled={waitSeconds > 0}
          >
            {words.goOn}
          </Button>
        </form>
      )}
      {isRecovering && (
        <p class="hint">
          {words.noCodes} <code>vidimus user reset NAME</code>
        </p>
      )}
      <div class="row">
        {(half.has_codes || passkey) && (
          <Button kind="quiet" onClick={swap}>
            {isRecovering ? words.noRecovery : words.useRecovery}
          </Button>
        )}
        <Button kind="quiet" onClick={onBack}>
          {words.startOver}
        </Button>
      </div>
    </EntranceFrame>
  )
}
