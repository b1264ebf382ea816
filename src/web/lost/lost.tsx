import { useEffect } from 'preact/hooks'
import { LinkButton } from '../kit/button.tsx'
import { LanguageSwitch } from '../kit/language-switch.tsx'
import { Seal, Wordmark } from '../kit/seal.tsx'
import { serviceUrl } from '../shared/base.ts'
import { useLostWords } from './words.ts'

/** The page for an unknown path. */
export function Lost() {
  const words = useLostWords()
  useEffect(() => {
    document.title = `${words.title} · Vidimus`
  }, [words])
  const bare = location.pathname.replace(/\/+$/, '')
  return (
    <div class="app lost">
      <main>
        <article class="card stack centred">
          <Seal state="open" size={96} />
          <h1>{words.title}</h1>
          <p class="secondary">{words.more}</p>
          <p class="small breaks">
            <code>{location.pathname}</code>
          </p>
          {bare !== location.pathname && (
            // The link has the origin: //host would lead to another one.
            <p>
              <a href={`${location.origin}${bare}`}>{words.bare}</a>
            </p>
          )}
          <div class="row">
            <LinkButton kind="primary" href={serviceUrl('')}>
              {words.home}
            </LinkButton>
            <LinkButton href={serviceUrl('docs')}>{words.handbook}</LinkButton>
          </div>
        </article>
      </main>
      <footer class="row between">
        <Wordmark size={18} />
        <LanguageSwitch />
      </footer>
    </div>
  )
}
