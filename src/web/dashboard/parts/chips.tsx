/** Spans, because they are part of the first cell on narrow screens. `beside`: on one line. */
export function Chips({ names, beside }: { names: readonly string[]; beside?: true }) {
  return (
    <span class={`chips ${beside ? 'line' : 'row'} dense`}>
      {names.map((name, i) => (
        <span key={name}>
          {name}
          {i < names.length - 1 && <span class="only-heard">, </span>}
        </span>
      ))}
    </span>
  )
}
