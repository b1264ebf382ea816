import { useState } from 'preact/hooks'
import { Check, Field } from '../../shared/field.tsx'
import { useDashboardWords } from '../words.ts'

const CHARS_MIN = 15
const CHARS_MAX = 128

type Props = { label: string; value: string; onInput: (password: string) => void; autofocus?: boolean }

/** One field that can be looked at, rather than two that cannot. */
export function NewPassword({ label, value, onInput, autofocus }: Props) {
  const words = useDashboardWords().entrance
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
        onInput={event => onInput(event.currentTarget.value)}
      />
      <Check label={words.show} checked={isShown} onChange={event => setIsShown(event.currentTarget.checked)} />
    </div>
  )
}
