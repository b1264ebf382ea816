/** JSON, folded away. */
export function Json({ title, value }: { title: string; value: unknown }) {
  return (
    <details class="folded">
      <summary>{title}</summary>
      <Raw label={title} text={JSON.stringify(value, null, 2)} />
    </details>
  )
}

/** Text that must not be wrapped or changed. */
export function Raw({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="raw" tabIndex={0} aria-label={label}>
      {text}
    </section>
  )
}
