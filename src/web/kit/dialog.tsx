import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useCommon } from '../shared/language.ts'
import { Icon } from './icons.tsx'
import { useKeptFocus } from './kept-focus.ts'

type Props = {
  title: ComponentChildren
  /** For content that is shown only once: only a button among its children closes the dialog. */
  holds?: boolean
  /** Such content is being made: nothing closes the dialog. */
  isBusy?: boolean
  onClose: () => void
  children: ComponentChildren
}

/** Rendered while it is open. The opener gets the focus back when it closes. */
export function Dialog({ title, holds = false, isBusy = false, onClose, children }: Props) {
  const words = useCommon()
  const stays = holds || isBusy
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useKeptFocus(dialog, heading)
  // A plain effect ends a frame after the dialog is gone, and would take the focus from wherever it is by then.
  useLayoutEffect(() => {
    const opener = document.activeElement
    const element = dialog.current
    element?.showModal()
    return () => {
      element?.close()
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onCancel={event => {
        event.preventDefault()
        if (!stays) onClose()
      }}
      onClose={() => {
        // Browsers fire `cancel` once: a second Escape in a row closes without it.
        if (stays) dialog.current?.showModal()
        else if (dialog.current) onClose()
      }}
    >
      <header class="line start">
        <h2 id={id} class="grow" ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {!holds && (
          <button type="button" class="icon-button" aria-label={words.close} disabled={isBusy} onClick={onClose}>
            <Icon name="cross" />
          </button>
        )}
      </header>
      {children}
    </dialog>
  )
}
