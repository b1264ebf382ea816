import type { ComponentChildren } from 'preact'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { useCommon } from '../../shared/language.ts'
import { useAction } from '../action.ts'
import { Problem } from './problem.tsx'

type Props = {
  title: string
  intro?: string
  /** The submit button. */
  verb: string
  /** Instead of “Cancel”. */
  dismiss?: string | undefined
  kind?: 'primary' | 'danger'
  isReady?: boolean
  onSubmit: () => Promise<unknown>
  onClose: () => void
  /** Replaces the button that cancels. */
  onBack?: () => void
  /** Replaces the form. Shown only once: only its own button closes the dialog, and nothing does while it is being made. */
  result?: ComponentChildren
  children?: ComponentChildren
}

/** A dialog with a form, which keeps the focus while the result replaces the form. */
export function FormDialog(props: Props) {
  const { title, intro, verb, dismiss, kind = 'primary', isReady = true, result, children, ...on } = props
  const common = useCommon()
  const action = useAction(on.onSubmit)
  const isMaking = action.isBusy && 'result' in props
  const back =
    on.onBack &&
    (() => {
      action.clear()
      on.onBack?.()
    })
  return (
    <Dialog title={title} holds={Boolean(result)} isBusy={isMaking} onClose={on.onClose}>
      {result || (
        <form class="stack" onSubmit={action.submit}>
          {intro && <p class="secondary">{intro}</p>}
          {children}
          <Problem of={action.problem} />
          <div class="row end">
            <Button disabled={isMaking} onClick={back ?? on.onClose}>
              {back ? common.back : (dismiss ?? common.cancel)}
            </Button>
            <Button kind={kind} type="submit" busy={action.isBusy} disabled={!isReady}>
              {verb}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
