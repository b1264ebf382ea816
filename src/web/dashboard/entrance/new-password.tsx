import { useState } from 'preact/hooks'
import { Check, Field } from '../../kit/field.tsx'
import { useEntranceWords } from './words.ts'

const USER_NAME = '[a-z0-9][a-z0-9._@+\\-]{1,63}'

const CHARS_MIN = 15
const CHARS_MAX = 128

type Props = { label: string; value: string; onText: (password: string) => void; autofocus?: boolean }

/** One field that can be made visible, instead of a second one to repeat it. */
export function NewPassword({ label, value, onText, autofocus }: Props) {
  const words = useEntranceWords()
  const [isShown, setIsShown] = useState(false)
  return (
    <div>
      <Field
        label={label}
        hint={words.passwordHint}
        type={isShown ? 'text' : 'password'}
        name="new-password"
        autocomplete="new-password"
        autocapitalize="none"
        spellcheck={false}
        required
        autofocus={autofocus}
        minLength={CHARS_MIN}
        maxLength={CHARS_MAX}
        value={value}
        onText={onText}
      />
      <Check label={words.show} isChecked={isShown} onCheck={setIsShown} />
    </div>
  )
}

type NameProps = { label: string; hint?: string; value: string; onText: (name: string) => void; autocomplete: 'username' | 'off' }

/** The name of a new user, in lower case. */
export function NewUserName({ label, hint, value, onText, autocomplete }: NameProps) {
  const words = useEntranceWords()
  return (
    <Field
      label={label}
      hint={hint ?? words.nameHint}
      name="username"
      autocomplete={autocomplete}
      autocapitalize="none"
      spellcheck={false}
      required
      autofocus
      pattern={USER_NAME}
      value={value}
      onText={text => onText(text.toLowerCase())}
    />
  )
}
