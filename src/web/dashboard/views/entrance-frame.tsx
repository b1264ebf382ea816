import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Entrance as EntranceWire } from '../../../dashboard/schema.ts'
import { LanguageSwitch } from '../../shared/language.tsx'
import { Wordmark } from '../../shared/seal.tsx'
import { useArrival } from '../arrival.ts'
import { useDashboardWords } from '../words.ts'

export type Entrance = typeof EntranceWire.static

/** A card in the middle: what comes before one is inside. */
export function EntranceFrame({ title, children }: { title: string; children: ComponentChildren }) {
  const words = useDashboardWords()
  const card = useRef<HTMLElement>(null)
  // A browser heeds `autofocus` only once in the life of a page.
  useArrival(() => card.current?.querySelector<HTMLElement>('[autofocus]') ?? card.current?.querySelector('h1') ?? null)
  useEffect(() => {
    document.title = `${title} · Vidimus`
  }, [title])
  return (
    <div class="entrance">
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
