import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../shared/button.tsx'
import { Dialog } from '../shared/dialog.tsx'
import { Field } from '../shared/field.tsx'
import { useCommon } from '../shared/language.tsx'
import { useAction } from './action.ts'
import { Problem } from './problem.tsx'
import { useDashboardWords } from './words.ts'

type Props = {
  title: string
  /** What cannot be undone asks for the name of the thing. */
  name?: string
  verb: string
  onConfirm: () => Promise<unknown>
  onClose: () => void
  children: ComponentChildren
}

export function Confirm({ title, name, verb, onConfirm, onClose, children }: Props) {
  const words = useDashboardWords()
  const common = useCommon()
  const [typed, setTyped] = useState('')
  const act = useAction(onConfirm)
  const isConfirmed = name === undefined || typed.trim() === name
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={act.submit}>
        <p>{children}</p>
        {name !== undefined && (
          <Field
            label={words.confirmName(name)}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            autofocus
            value={typed}
            onInput={event => setTyped(event.currentTarget.value)}
          />
        )}
        <Problem of={act.problem} />
        <div class="row end">
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="danger" type="submit" busy={act.isBusy} disabled={!isConfirmed}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
