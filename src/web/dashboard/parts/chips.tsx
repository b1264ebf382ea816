import { Link } from '../route.tsx'

type Props = { names: readonly string[] /** On one line. */; beside?: true; hrefOf?: (index: number) => string }

/** Spans, because they are part of the first cell on narrow screens. */
export function Chips({ names, beside, hrefOf }: Props) {
  return (
    <span class={`chips ${beside ? 'line' : 'row'} dense`}>
      {names.map((name, i) => (
        <span key={name}>
          {hrefOf ? <Link href={hrefOf(i)}>{name}</Link> : name}
          {i < names.length - 1 && <span class="only-heard">, </span>}
        </span>
      ))}
    </span>
  )
}
