import type {
  ComponentChildren,
  InputHTMLAttributes,
  PartialInputHTMLAttributes,
  PartialSelectHTMLAttributes,
  TextareaHTMLAttributes,
} from 'preact'
import { useId } from 'preact/hooks'
import { Icon } from './icons.tsx'

type Around = { label: ComponentChildren; hint?: ComponentChildren; problem?: ComponentChildren }

/** Ties label, hint and problem to the control between them. */
function Frame({ id, label, hint, problem, children }: Around & { id: string; children: ComponentChildren }) {
  return (
    <div class="field">
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

/** What a control may be told beside that; its role is its own affair. */
type Inner<Attributes> = Around & Omit<Attributes, keyof Around | 'class' | 'className' | 'id' | 'role' | 'size'>
type InputProps = Inner<Omit<PartialInputHTMLAttributes<HTMLInputElement>, 'type'>>
type TextType = 'text' | 'password' | 'email' | 'number' | 'search' | 'url' | 'date'

export function Field({ label, hint, problem, type = 'text', ...rest }: InputProps & { type?: TextType }) {
  const id = useId()
  return (
    <Frame {...{ id, label, hint, problem }}>
      <input {...({ ...rest, type } as InputHTMLAttributes)} {...described(id, { label, hint, problem })} />
    </Frame>
  )
}

export function Select({ label, hint, problem, children, ...rest }: Inner<PartialSelectHTMLAttributes<HTMLSelectElement>>) {
  const id = useId()
  return (
    <Frame {...{ id, label, hint, problem }}>
      <select {...rest} {...described(id, { label, hint, problem })}>
        {children}
      </select>
    </Frame>
  )
}

export function TextArea({ label, hint, problem, ...rest }: Inner<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  const id = useId()
  return (
    <Frame {...{ id, label, hint, problem }}>
      <textarea spellcheck={false} {...rest} {...described(id, { label, hint, problem })} />
    </Frame>
  )
}

/** A box or, with `type="radio"`, one of several choices. */
export function Check({
  label,
  hint,
  type = 'checkbox',
  ...rest
}: Omit<InputProps, 'problem'> & { type?: 'checkbox' | 'radio' }) {
  const id = useId()
  return (
    <label class="check" for={id}>
      <input {...rest} type={type} id={id} aria-describedby={hint ? `${id}-hint` : undefined} />
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
