import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../../kit/icons.tsx'
import { useCommon } from '../../shared/language.ts'
import { goTo } from '../route.tsx'
import { useDashboardWords } from '../words.ts'
import { useOpened } from './page.tsx'

/** A list with the chosen row's panel beside it, or only the panel on a narrow screen. */
export function Split({ list, panel }: { list: ComponentChildren; panel?: ComponentChildren }) {
  return (
    <div class={panel ? 'split open' : 'split'}>
      <div class="list stack">{list}</div>
      {panel}
    </div>
  )
}

type Props = { title: string; backTo: string; children: ComponentChildren }

/** Takes the focus when it opens, and returns it to its row when it closes. */
export function Panel({ title, backTo, children }: Props) {
  const words = useDashboardWords()
  const common = useCommon()
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  useOpened(title)
  useLayoutEffect(() => {
    const opened = location.pathname
    heading.current?.focus()
    // The row gets the focus once the list is visible again, unless another panel opened.
    return () => void requestAnimationFrame(() => !document.querySelector('.panel') && rowOf(opened)?.focus())
  }, [])
  const close = () => goTo(backTo)
  return (
    <section
      class="panel card stack loose"
      aria-labelledby={id}
      onKeyDown={event => event.key === 'Escape' && !event.defaultPrevented && !isInDialog(event) && close()}
    >
      <header class="panel-header line tight start">
        <button type="button" class="icon-button back" aria-label={common.back} onClick={close}>
          <Icon name="back" />
        </button>
        <h2 id={id} class="grow breaks" ref={heading} tabIndex={-1}>
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
