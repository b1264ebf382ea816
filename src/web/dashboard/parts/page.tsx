import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import { useKeptFocus } from '../../kit/kept-focus.ts'
import { hrefTo, Link, useRoute } from '../route.tsx'
import { useDashboardWords } from '../words.ts'
import { useArrival } from './arrival.ts'

type Props = {
  title: string
  intro?: ComponentChildren
  actions?: ComponentChildren
  /** Actions that wait are not seen. Their room is kept, so that nothing moves when they appear. */
  areActionsHeld?: boolean
  children: ComponentChildren
}

const Opened = createContext<(part: string | undefined) => void>(() => {})

/** The title of an open panel, for that of the window. */
export function useOpened(part: string): void {
  const setOpened = useContext(Opened)
  useEffect(() => {
    setOpened(part)
    return () => setOpened(undefined)
  }, [part])
}

/** A view with its heading and its main actions. */
export function Page({ title, intro, actions, areActionsHeld, children }: Props) {
  const { backToGoLive } = useDashboardWords()
  const { search } = useRoute()
  const page = useRef<HTMLDivElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useArrival(() => heading.current)
  useKeptFocus(page, heading)
  const [opened, setOpened] = useState<string>()
  useEffect(() => {
    document.title = [opened, title, 'Vidimus'].filter(Boolean).join(' · ')
  }, [title, opened])
  return (
    <div ref={page} class="page stack loose">
      {search.get('back') === 'go-live' && <Link href={hrefTo('go-live')}>{backToGoLive}</Link>}
      <header class="page-header row between start">
        <div class="stack tight">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {intro && <p class="secondary">{intro}</p>}
        </div>
        {actions && <div class={areActionsHeld ? 'row held' : 'row'}>{actions}</div>}
      </header>
      <Opened.Provider value={setOpened}>{children}</Opened.Provider>
    </div>
  )
}
