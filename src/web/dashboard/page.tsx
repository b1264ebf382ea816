import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

type Props = { title: string; intro?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren }

/** The first view after loading leaves the focus to the browser; every further one says where one is now. */
let isFirst = true

/** A view: its heading, what can be done here, and the rest. */
export function Page({ title, intro, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (!isFirst) heading.current?.focus()
    isFirst = false
  }, [])
  useEffect(() => {
    document.title = `${title} · Vidimus`
  }, [title])
  return (
    <div class="page stack loose">
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
