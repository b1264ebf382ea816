import { Field } from '../../kit/field.tsx'
import { useEntranceWords } from './words.ts'

type Props = { isRecovery?: boolean; value: string; onText: (code: string) => void }

/** Six digits of an authenticator app, or a recovery code. */
export function CodeField({ isRecovery = false, value, onText }: Props) {
  const words = useEntranceWords()
  return (
    <Field
      label={isRecovery ? words.recoveryCode : words.code}
      hint={isRecovery ? words.recoveryHint : words.codeHint}
      name="code"
      autocomplete={isRecovery ? 'off' : 'one-time-code'}
      inputMode={isRecovery ? 'text' : 'numeric'}
      autocapitalize="none"
      spellcheck={false}
      required
      autofocus
      maxLength={32}
      value={value}
      onText={onText}
    />
  )
}
