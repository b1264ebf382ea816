import { Check, Field } from '../../../../kit/field.tsx'
import { Fingerprint } from '../fingerprint.tsx'
import { useTrustWords } from '../words.ts'
import { StepHeading } from './step-heading.tsx'

type Ticks = { compared: boolean; terms: boolean }

type Props = {
  fingerprint: string
  terms: string | null | undefined
  label: string
  ticks: Ticks
  onLabel: (label: string) => void
  onTick: (ticks: Ticks) => void
}

export function ConfirmSigner({ fingerprint, terms, label, ticks, onLabel, onTick }: Props) {
  const words = useTrustWords().addList
  return (
    <>
      <StepHeading>{words.steps[2]}</StepHeading>
      <section class="signer box stack tight" aria-label={words.fingerprint}>
        <h4>{words.fingerprint}</h4>
        <Fingerprint hex={fingerprint} />
      </section>
      <Check
        label={words.compared}
        hint={words.comparedHint}
        isChecked={ticks.compared}
        onCheck={compared => onTick({ ...ticks, compared })}
      />
      {terms && (
        <Check label={words.termsRead(terms)} isChecked={ticks.terms} onCheck={isRead => onTick({ ...ticks, terms: isRead })} />
      )}
      <Field label={words.label} hint={words.labelHint} autocomplete="off" maxLength={100} value={label} onText={onLabel} />
      <p class="hint">{words.passwordNote}</p>
    </>
  )
}
