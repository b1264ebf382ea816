import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Dialog } from '../../kit/dialog.tsx'
import { Icon } from '../../kit/icons.tsx'
import { goTo } from '../route.tsx'
import { type Hit, useHits } from './hits.ts'
import { useSearchWords } from './words.ts'

/** Ctrl-K, or Command-K. */
export function useSearchKey(open: () => void): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      event.preventDefault()
      // Another dialog keeps the page until it is closed.
      if (!document.querySelector('dialog[open]')) open()
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [])
}

export function SearchButton({ onClick }: { onClick: () => void }) {
  const words = useSearchWords()
  return (
    <button type="button" class="search-button" aria-keyshortcuts="Control+K Meta+K" onClick={onClick}>
      <Icon name="search" />
      <span class="word">{words.title}</span> <kbd>{words.keys}</kbd>
    </button>
  )
}

/** One search for everything. */
export function SearchDialog({ onClose }: { onClose: () => void }) {
  const words = useSearchWords()
  const id = useId()
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const hits = useHits(typed)
  const count = hits?.length ?? 0
  const current = Math.min(chosen, count - 1)
  useEffect(() => list.current?.children[current]?.scrollIntoView({ block: 'nearest' }), [current])
  const open = ({ kind, href }: Hit) => {
    onClose()
    if (kind === 'handbook') location.assign(href)
    else goTo(href)
  }
  const move = (event: KeyboardEvent) => {
    const hit = hits?.[current]
    if (event.key === 'Enter' && hit) open(hit)
    else if (event.key === 'ArrowDown') setChosen((current + 1) % Math.max(count, 1))
    else if (event.key === 'ArrowUp') setChosen((current - 1 + count) % Math.max(count, 1))
    else return
    event.preventDefault()
  }
  const isEmpty = typed.trim() === ''
  const said = hits === undefined || isEmpty ? '' : count === 0 ? words.nothing : words.results(count)
  return (
    <Dialog title={words.title} onClose={onClose}>
      <input
        class="input wide"
        type="text"
        role="combobox"
        aria-label={words.label}
        aria-expanded={count > 0}
        aria-controls={`${id}-hits`}
        aria-autocomplete="list"
        aria-activedescendant={count > 0 ? `${id}-${current}` : undefined}
        placeholder={words.placeholder}
        autocomplete="off"
        autofocus
        maxLength={500}
        value={typed}
        onInput={event => {
          setTyped(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={move}
      />
      <div ref={list} id={`${id}-hits`} class="hits" role="listbox" aria-label={words.title}>
        {hits?.map((hit, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox has the keys.
          <div
            key={`${hit.kind} ${hit.id}`}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === current}
            tabIndex={-1}
            onClick={() => open(hit)}
            onPointerMove={() => setChosen(i)}
          >
            <span class="clipped">
              {hit.title}
              {hit.more && <span class="secondary"> · {hit.more}</span>}
            </span>
            <span class="hint">{words.kinds[hit.kind]}</span>
          </div>
        ))}
      </div>
      <p class="hint" role="status">
        {said || words.hint}
      </p>
    </Dialog>
  )
}
