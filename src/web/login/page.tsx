import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { LanguageSwitch } from '../kit/language-switch.tsx'
import { Seal, type SealState, Wordmark } from '../kit/seal.tsx'

type Props = { seal: SealState; title: string; children: ComponentChildren }

export function Page({ seal, title, children }: Props) {
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <div class="app login">
      <main>
        <article class="card stack centred" aria-live="polite">
          <Seal state={seal} size={96} />
          <h1>{title}</h1>
          {children}
        </article>
      </main>
      <footer class="row between">
        <Wordmark size={18} />
        <LanguageSwitch />
      </footer>
    </div>
  )
}
