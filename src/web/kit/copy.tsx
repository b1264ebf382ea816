import { useEffect, useRef, useState } from 'preact/hooks'
import { useCommon } from '../shared/language.ts'
import { Icon } from './icons.tsx'

const THANKS_MS = 2000

/** Text with a copy button; over plain http, which forbids that, it selects the text. */
export function Copy({ text, label, wraps = false }: { text: string; label: string; wraps?: boolean }) {
  const words = useCommon()
  const code = useRef<HTMLElement>(null)
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (!said) return
    const timer = setTimeout(() => setSaid(''), THANKS_MS)
    return () => clearTimeout(timer)
  }, [said])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid(words.copied)
    } catch {
      // No permission, or no secure context.
      if (code.current) getSelection()?.selectAllChildren(code.current)
      setSaid(words.marked)
    }
  }
  return (
    <div class={`copyable box line tight middle${wraps ? ' wraps' : ''}`}>
      {wraps ? (
        <code class="grow" ref={code}>
          {text}
        </code>
      ) : (
        // A scrolling element must be reachable by keyboard, and have a name there.
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: as above.
        <code class="grow" ref={code} role="group" aria-label={label} tabIndex={0}>
          {text}
        </code>
      )}
      <button type="button" class="icon-button" aria-label={words.copy(label)} title={words.copy(label)} onClick={copy}>
        <Icon name={said ? 'tick' : 'copy'} />
      </button>
      <span class="only-heard" role="status">
        {said}
      </span>
    </div>
  )
}
