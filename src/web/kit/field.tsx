import type { ComponentChildren, InputHTMLAttributes, PartialInputHTMLAttributes, TextareaHTMLAttributes } from 'preact'
import { useId, useState } from 'preact/hooks'
import { useCommon } from '../shared/language.ts'
import { Icon } from './icons.tsx'

type Around = { label: ComponentChildren; hint?: ComponentChildren; problem?: ComponentChildren }

/** Ties label, hint and problem to the control between them. */
function Frame({ id, label, hint, problem, children }: Around & { id: string; children: ComponentChildren }) {
  return (
    <div class="field stack dense">
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children}
      {problem && (
        <p class="problem" id={`${id}-problem`}>
          <Icon name="warning" />
          <span>{problem}</span>
        </p>
      )}
    </div>
  )
}

const described = (id: string, { hint, problem }: Around) => ({
  id,
  class: 'input',
  'aria-describedby': [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ') || undefined,
  'aria-invalid': problem ? true : undefined,
})

type OnText = { onText?: (text: string) => void }
type ControlEvent = { currentTarget: HTMLInputElement | HTMLTextAreaElement }

/** The given problem, or the one that the browser found on submitting, until somebody types. */
function useProblem(given: ComponentChildren, { onText }: OnText) {
  const words = useCommon().fieldProblems
  const [found, setFound] = useState<keyof typeof words>()
  return {
    problem: given || (found && words[found]),
    onInvalid: ({ currentTarget }: ControlEvent) => setFound(kindOf(currentTarget.validity)),
    onInput: ({ currentTarget }: ControlEvent) => {
      setFound(undefined)
      onText?.(currentTarget.value)
    },
  }
}

function kindOf({ valueMissing, typeMismatch, tooShort }: ValidityState) {
  if (valueMissing) return 'missing'
  if (typeMismatch) return 'address'
  return tooShort ? 'short' : 'other'
}

type Inner<Attributes> = Around & Omit<Attributes, keyof Around | 'class' | 'className' | 'id' | 'role' | 'size'>
type InputProps = Inner<Omit<PartialInputHTMLAttributes<HTMLInputElement>, 'type'>>
type TextType = 'text' | 'password' | 'url' | 'email'

export function Field({
  label,
  hint,
  problem: given,
  type = 'text',
  onText,
  ...rest
}: InputProps & OnText & { type?: TextType }) {
  const id = useId()
  const { problem, ...listeners } = useProblem(given, { onText })
  return (
    <Frame {...{ id, label, hint, problem }}>
      <input {...({ ...rest, type } as InputHTMLAttributes)} {...described(id, { label, hint, problem })} {...listeners} />
    </Frame>
  )
}

export function TextArea({
  label,
  hint,
  problem: given,
  onText,
  ...rest
}: Inner<TextareaHTMLAttributes<HTMLTextAreaElement>> & OnText) {
  const id = useId()
  const { problem, ...listeners } = useProblem(given, { onText })
  return (
    <Frame {...{ id, label, hint, problem }}>
      <textarea spellcheck={false} {...rest} {...described(id, { label, hint, problem })} {...listeners} />
    </Frame>
  )
}

type Options<Value> = readonly (readonly [value: Value, label: string])[]

type Choosing<Value extends string | number> = {
  value: Value
  options: Options<Value>
  /** After the options. */
  groups?: readonly { label: string; options: Options<Value> }[]
  onChoose: (value: Value) => void
}

export function Select<Value extends string | number>({ label, ...choosing }: { label: string } & Choosing<Value>) {
  const id = useId()
  return (
    <Frame id={id} label={label}>
      <Choice id={id} {...choosing} />
    </Frame>
  )
}

type ChoiceProps<Value extends string | number> = Choosing<Value> & { id?: string; class?: string; label?: string }

/** A select without a visible label. */
export function Choice<Value extends string | number>({
  id,
  class: name = 'input',
  label,
  value,
  options,
  groups = [],
  onChoose,
}: ChoiceProps<Value>) {
  const choose = (text: string) => {
    const chosen = [...options, ...groups.flatMap(group => group.options)].find(([each]) => String(each) === text)
    if (chosen) onChoose(chosen[0])
  }
  return (
    <select id={id} class={name} aria-label={label} value={value} onChange={event => choose(event.currentTarget.value)}>
      {options.map(asOption)}
      {groups.map(group => (
        <optgroup key={group.label} label={group.label}>
          {group.options.map(asOption)}
        </optgroup>
      ))}
    </select>
  )
}

const asOption = ([value, title]: Options<string | number>[number]) => (
  <option key={value} value={value}>
    {title}
  </option>
)

type CheckProps = Pick<Around, 'label' | 'hint'> & {
  isChecked: boolean
  onCheck: (isChecked: boolean) => void
  /** Makes it one of several choices. */
  group?: string
}

export function Check({ label, hint, isChecked, onCheck, group }: CheckProps) {
  const id = useId()
  return (
    <label class="check" for={id}>
      <input
        type={group === undefined ? 'checkbox' : 'radio'}
        id={id}
        name={group}
        checked={isChecked}
        onChange={event => onCheck(event.currentTarget.checked)}
        aria-describedby={hint ? `${id}-hint` : undefined}
      />
      <span>
        {label}
        {hint && (
          <span class="hint" id={`${id}-hint`}>
            <br />
            {hint}
          </span>
        )}
      </span>
    </label>
  )
}
