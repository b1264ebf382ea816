import type { ComponentChildren } from 'preact'

export function Card({ title, children }: { title?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="card stack">
      {title && <h2>{title}</h2>}
      {children}
    </section>
  )
}
