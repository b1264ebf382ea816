import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

type Props = { title: string /** It opens by itself, as something in it counts. */; holds: boolean; children: ComponentChildren }

/** What few people need. */
export function Fold({ title, holds, children }: Props) {
  const [isOpen, setIsOpen] = useState(holds)
  useEffect(() => {
    if (holds) setIsOpen(true)
  }, [holds])
  return (
    <details class="folded" open={isOpen} onToggle={event => setIsOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {children}
    </details>
  )
}
