import { useState } from 'preact/hooks'
import type { Session } from '../../../../people/schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Field } from '../../../kit/field.tsx'
import { LanguageSwitch } from '../../../kit/language-switch.tsx'
import { useAction } from '../../action.ts'
import { NewPassword } from '../../entrance/new-password.tsx'
import { HiddenUserName } from '../../entrance/password-dialog.tsx'
import { useEntranceWords } from '../../entrance/words.ts'
import { Saved } from '../../parts/saved.tsx'
import { useSession } from '../../session.tsx'
import { MailAddress } from '../mail/mail.tsx'
import { useProfileWords } from './words.ts'

export function ProfileSettings() {
  const words = useProfileWords()
  const { session } = useSession()
  return (
    <>
      <Card title={words.profile}>
        <p>
          {words.you(session.user.name)} <Badge>{words.role[session.user.role]}</Badge>
        </p>
        <div class="row">
          <LanguageSwitch />
          <p class="hint">{words.theme}</p>
        </div>
      </Card>
      {session.user.is_owner && <MailAddress />}
      <ChangePassword />
    </>
  )
}

function ChangePassword() {
  const words = useProfileWords()
  const { newPassword } = useEntranceWords()
  const { session, call, renew } = useSession()
  const [old, setOld] = useState('')
  const [next, setNext] = useState('')
  const [isChanged, setIsChanged] = useState(false)
  const change = useAction(async () => {
    setIsChanged(false)
    await renew(await call<Session>('password', { method: 'POST', body: { password: old, new_password: next } }))
    setOld('')
    setNext('')
    setIsChanged(true)
  })
  return (
    <Card title={words.password}>
      <form class="stack" onSubmit={change.submit}>
        <HiddenUserName name={session.user.name} />
        <Field label={words.oldPassword} type="password" autocomplete="current-password" required value={old} onText={setOld} />
        <NewPassword label={newPassword} value={next} onText={setNext} />
        <p class="hint">{words.passwordMore}</p>
        <Saved action={change} isSaved={isChanged} sentence={words.passwordChanged} />
        <div>
          <Button type="submit" busy={change.isBusy}>
            {words.changePassword}
          </Button>
        </div>
      </form>
    </Card>
  )
}
