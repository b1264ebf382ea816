import type { ComponentChildren } from 'preact'
import { useCommon } from '../shared/language.ts'
import { Copy } from './copy.tsx'
import { Seal } from './seal.tsx'

type Props = { title: ComponentChildren; children: ComponentChildren; action?: ComponentChildren; curl?: string }

/** An empty list: its purpose, the button that creates the first entry, and the command. */
export function Empty({ title, children, action, curl }: Props) {
  const words = useCommon()
  return (
    <div class="empty stack centred">
      <Seal state="open" size={48} />
      <h2>{title}</h2>
      <p class="secondary">{children}</p>
      {action}
      {curl && (
        <details>
          <summary>{words.withTheApi}</summary>
          <Copy text={curl} label={words.command} />
        </details>
      )}
    </div>
  )
}
