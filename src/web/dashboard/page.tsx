import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useKeptFocus } from '../shared/kept-focus.ts'
import { useArrival } from './arrival.ts'

type Props = {
  title: string
  /** The part of the view that is open, for the title of the window. */
  part?: string
  intro?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
}

/** A view with its heading and its main actions. */
export function Page({ title, part, intro, actions, children }: Props) {
  const page = useRef<HTMLDivElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useArrival(() => heading.current)
  useKeptFocus(page, heading)
  useEffect(() => {
    document.title = [part, title, 'Vidimus'].filter(Boolean).join(' · ')
  }, [title, part])
  return (
    <div ref={page} class="page stack loose">
      <header class="page-header">
        <div class="stack tight">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {intro && <p class="secondary">{intro}</p>}
        </div>
        {actions && <div class="row">{actions}</div>}
      </header>
      {children}
    </div>
  )
}
