import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Field } from '../../kit/field.tsx'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { useDashboardWords } from '../words.ts'
import { FormDialog } from './form-dialog.tsx'

type Props = {
  title: string
  /** Typed by the reader before a step that cannot be undone. */
  name?: string
  verb: string
  /** Instead of “Cancel”, beside a verb that means the same. */
  dismiss?: string
  onConfirm: () => Promise<unknown>
  onClose: () => void
  children: ComponentChildren
}

export function Confirm({ title, name, verb, dismiss, onConfirm, onClose, children }: Props) {
  const words = useDashboardWords()
  const [typed, setTyped] = useState('')
  const isReady = name === undefined || typed.trim() === name
  return (
    <FormDialog {...{ title, verb, dismiss, isReady, onClose }} kind="danger" onSubmit={onConfirm}>
      <p>{children}</p>
      {name !== undefined && (
        <Field
          label={words.confirmName(name)}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          autofocus
          value={typed}
          onText={setTyped}
        />
      )}
    </FormDialog>
  )
}

type ButtonProps = Omit<Props, 'onClose'> & { label?: string; icon?: IconName; kind?: 'plain' | 'danger' }

/** Asks before it acts. The button has the verb of the dialog unless it has a label of its own. */
export function ConfirmButton({ label, icon, kind, onConfirm, ...rest }: ButtonProps) {
  const [isAsking, setIsAsking] = useState(false)
  const close = () => setIsAsking(false)
  return (
    <>
      <Button kind={kind} onClick={() => setIsAsking(true)}>
        {icon && <Icon name={icon} />}
        {label ?? rest.verb}
      </Button>
      {isAsking && <Confirm {...rest} onClose={close} onConfirm={() => onConfirm().then(close)} />}
    </>
  )
}
