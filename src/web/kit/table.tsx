import type { ComponentChildren } from 'preact'

export type Column<Row> = {
  title: string
  /** One column, the lead, places `folded`: the cells of the columns that are folded away. */
  cell: (row: Row, folded: ComponentChildren) => ComponentChildren
  /** `grows` takes the remaining width and cuts long text; `wraps` continues on another line. */
  kind?: 'number' | 'grows' | 'wraps'
  /** The widest table in which the column is folded away. */
  folds?: 'tablet' | 'phone'
  /**
   * The place of the value in the lead cell on narrow screens: as it is, after its title, or after
   * all others; else not shown.
   */
  below?: 'plain' | 'titled' | 'last'
  /** Shown in place of the cell when folded. */
  long?: (row: Row) => ComponentChildren
}

type RowAction = { verb: string; isDangerous?: true; act: () => void }

/** A last column of buttons. `title` and `label` are for screen readers. */
type RowActions<Row> = {
  title: string
  label: (row: Row, verb: string) => string
  of: (row: Row) => readonly (RowAction | false)[]
}

type Props<Row> = {
  /** A text for screen readers. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  isChosen?: (row: Row) => boolean
  actions?: RowActions<Row>
}

/**
 * One line per row. On narrow screens columns fold away (table.css) instead of being cut. An
 * `<a class="row-button">` in a cell makes the whole row clickable.
 */
export function Table<Row>({ caption, columns, rows, keyOf, isChosen, actions }: Props<Row>) {
  const classes = columns.map((column, i) => classOf(column, i === 0 && columns.some(givesRoom)))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="table-frame" tabIndex={0} aria-label={caption}>
      <table class="table">
        <caption class="only-heard">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title }, i) => (
              <th key={i} scope="col" class={classes[i]}>
                {title}
              </th>
            ))}
            {actions && (
              <th scope="col" class="number">
                <span class="only-heard">{actions.title}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)} class={isChosen?.(row) ? 'chosen' : undefined} aria-current={isChosen?.(row) || undefined}>
              {columns.map(({ cell }, i) => (
                <td key={i} class={classes[i]}>
                  {cell(row, <Folded columns={columns} row={row} />)}
                </td>
              ))}
              {actions && (
                <td class="number">
                  <Actions actions={actions} row={row} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const givesRoom = <Row,>({ kind, folds }: Column<Row>): boolean => kind === 'grows' && folds !== undefined

const classOf = <Row,>({ kind, folds }: Column<Row>, takesRoom: boolean): string | undefined =>
  [kind, folds && `folds-${folds}`, takesRoom && 'takes-room'].filter(Boolean).join(' ') || undefined

function Folded<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  const shown = columns.filter(({ below }) => below !== undefined)
  const sorted = shown.toSorted((a, b) => Number(a.below === 'last') - Number(b.below === 'last'))
  return sorted.map(({ title, below, folds, long, cell }) => (
    <span key={title} class={`below small below-${folds}`}>
      {below === 'titled' && `${title}: `}
      {long ? long(row) : cell(row, undefined)}
    </span>
  ))
}

function Actions<Row>({ actions: { label, of }, row }: { actions: RowActions<Row>; row: Row }) {
  return (
    <span class="row-actions">
      {of(row).map(
        action =>
          action && (
            <button
              key={action.verb}
              type="button"
              class={`row-button${action.isDangerous ? ' danger' : ''}`}
              aria-label={label(row, action.verb)}
              onClick={action.act}
            >
              {action.verb}
            </button>
          ),
      )}
    </span>
  )
}
