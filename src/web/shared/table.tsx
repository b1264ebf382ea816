import type { ComponentChildren } from 'preact'

export type Column<Row> = {
  title: ComponentChildren
  cell: (row: Row) => ComponentChildren
  /** What `grows` takes the room that is left, and cuts what is too long; what `wraps` goes on in a further line. */
  kind?: 'number' | 'grows' | 'wraps'
}

type Props<Row> = {
  /** For those who hear it. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  isChosen?: (row: Row) => boolean
}

/** One line per row. A row is opened by a `<button class="row-button">` in one of its cells. */
export function Table<Row>({ caption, columns, rows, keyOf, isChosen }: Props<Row>) {
  return (
    // Scrolls sideways by keyboard too.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable.
    <section class="table-frame" tabIndex={0} aria-label={caption}>
      <table class="table">
        <caption class="only-heard">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, i) => (
              <th key={i} scope="col" class={column.kind}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)} class={isChosen?.(row) ? 'chosen' : undefined} aria-current={isChosen?.(row) || undefined}>
              {columns.map((column, i) => (
                <td key={i} class={column.kind}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
