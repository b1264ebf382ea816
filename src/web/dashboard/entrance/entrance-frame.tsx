import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Entrance as EntranceWire } from '../../../people/schema.ts'
import { Button } from '../../kit/button.tsx'
import { LanguageSwitch } from '../../kit/language-switch.tsx'
import { Wordmark } from '../../kit/seal.tsx'
import { useAction } from '../action.ts'
import { useArrival } from '../parts/arrival.ts'
import { Problem } from '../parts/problem.tsx'
import { useDashboardWords } from '../words.ts'

export type Entrance = typeof EntranceWire.static

/** A card in the middle, for everything before the log-in. */
export function EntranceFrame({ title, children }: { title: string; children: ComponentChildren }) {
  const words = useDashboardWords()
  const card = useRef<HTMLElement>(null)
  // Browsers apply `autofocus` only once in the life of a page.
  useArrival(() => card.current?.querySelector<HTMLElement>('[autofocus]') ?? card.current?.querySelector('h1') ?? null)
  useEffect(() => {
    document.title = `${title} · Vidimus`
  }, [title])
  return (
    <div class="entrance stack loose middle">
      <header>
        <Wordmark size={32} />
        <span class="only-heard">{words.title}</span>
      </header>
      <main ref={card} class="card stack">
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </main>
      <footer>
        <LanguageSwitch />
      </footer>
    </div>
  )
}

type FormProps = { title: string; intro: string; verb: string; onSubmit: () => Promise<unknown>; children: ComponentChildren }

export function EntranceForm({ title, intro, verb, onSubmit, children }: FormProps) {
  const action = useAction(onSubmit)
  return (
    <EntranceFrame title={title}>
      <form class="stack" onSubmit={action.submit}>
        <p class="secondary">{intro}</p>
        {children}
        <Problem of={action.problem} />
        <Button kind="primary" wide type="submit" busy={action.isBusy}>
          {verb}
        </Button>
      </form>
    </EntranceFrame>
  )
}
