import { useFollowed } from '../shared/followed.ts'

export const ROWS = [20, 50, 100] as const
type Rows = (typeof ROWS)[number]

const KEPT = 'vidimus-rows'
const CHOSEN = new EventTarget()

/** Rows of a page, as this browser's user chose them. */
export const useRows = (): Rows => useFollowed(kept, [CHOSEN, 'chosen'])

const kept = (): Rows => ROWS.find(rows => String(rows) === localStorage.getItem(KEPT)) ?? 20

export function chooseRows(rows: Rows): void {
  localStorage.setItem(KEPT, String(rows))
  CHOSEN.dispatchEvent(new Event('chosen'))
}
