import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from '../shared/icons.tsx'
import { useCommon } from '../shared/language.tsx'
import { goTo } from './route.tsx'
import { useDashboardWords } from './words.ts'

/** A list and, beside it, what was chosen of it; where there is no room for both, only the latter. */
export function Split({ list, panel }: { list: ComponentChildren; panel?: ComponentChildren }) {
  return (
    <div class={panel ? 'split open' : 'split'}>
      <div class="list stack">{list}</div>
      {panel}
    </div>
  )
}

type Props = { title: ComponentChildren; backTo: string; children: ComponentChildren }

/** Takes the focus when it opens, and gives it back to the row it was opened from. */
export function Panel({ title, backTo, children }: Props) {
  const words = useDashboardWords()
  const common = useCommon()
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const opened = location.pathname
    heading.current?.focus()
    // Once the list is seen again, and unless another panel took this one's place.
    return () => void requestAnimationFrame(() => !document.querySelector('.panel') && rowOf(opened)?.focus())
  }, [])
  const close = () => goTo(backTo)
  return (
    <section
      class="panel stack loose"
      aria-labelledby={id}
      onKeyDown={event => event.key === 'Escape' && !event.defaultPrevented && !isInDialog(event) && close()}
    >
      <header class="panel-header">
        <button type="button" class="icon-button back" aria-label={common.back} onClick={close}>
          <Icon name="back" />
        </button>
        <h2 id={id} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" class="icon-button close" aria-label={words.closePanel} onClick={close}>
          <Icon name="cross" />
        </button>
      </header>
      {children}
    </section>
  )
}

const rowOf = (path: string) => document.querySelector<HTMLElement>(`.list a[href^="${CSS.escape(path)}"]`)

const isInDialog = ({ target }: Event): boolean => target instanceof Element && target.closest('dialog') !== null
