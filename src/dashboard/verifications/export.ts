// A list of verifications as CSV, without claims.
import { inTurns } from '../../http/turns.ts'
import type { Deps } from '../deps.ts'
import type { VerificationExport, VerificationSummary } from './schema.ts'
import { readSummaries } from './verifications.ts'

const EXPORT_ROWS_MAX = 10_000
/** Of the user's budget: the rows are read a page at a time, as fast as they are taken. */
export const EXPORT_COST = 20
const PAGE_ROWS = 100

const COLUMNS: Record<string, (row: VerificationSummary) => string | undefined> = {
  id: row => row.id,
  created_at: row => row.created_at,
  status: row => row.status,
  reason: row => row.error?.code,
  template: row => row.template,
  device: row => row.device?.name,
  key: row => row.key?.label,
  responded_at: row => row.responded_at,
  reference: row => Object.values(row.metadata ?? {})[0],
  metadata: row => row.metadata && JSON.stringify(row.metadata),
}

/** Newest first, at most EXPORT_ROWS_MAX, a page at a time. */
export async function exportSummaries(
  deps: Deps,
  tenantId: string,
  filter: VerificationExport,
  actor: string,
): Promise<ReadableStream<Uint8Array>> {
  const details = { environment: filter.environment }
  await deps.write(tx =>
    deps.audit.append(tx, { at: deps.now(), tenantId, actor, action: 'verification.exported', subjectId: tenantId, details }),
  )
  const lines = linesOf(deps, tenantId, filter)
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await lines.next()
      if (done) return controller.close()
      controller.enqueue(Buffer.from(value))
    },
    async cancel() {
      await lines.return()
    },
  })
}

async function* linesOf(deps: Deps, tenantId: string, filter: VerificationExport): AsyncGenerator<string, void, undefined> {
  // The mark makes Excel read UTF-8.
  yield `\ufeff${lineOf(Object.keys(COLUMNS))}`
  let before: string | undefined
  for (let left = EXPORT_ROWS_MAX; left > 0; ) {
    const page = await readSummaries(deps, tenantId, { ...filter, before, limit: Math.min(PAGE_ROWS, left) })
    const lines = await inTurns(deps.turns, page.data, row => lineOf(Object.values(COLUMNS).map(cell => cell(row) ?? '')))
    yield lines.join('')
    left -= page.data.length
    if (page.next_before === null) return
    before = page.next_before
  }
}

const lineOf = (cells: readonly string[]): string => `${cells.map(cellOf).join(',')}\r\n`

/**
 * Spreadsheets run a cell that begins like a formula, even a quoted one. Where the decimal sign is a
 * comma they end cells at semicolons and do not see our quotes: there a cell can begin behind every
 * semicolon, tab and line break. Some also read full-width signs.
 */
const FORMULA = /^(?=[=+\-@＝＋－＠\t\r\n])|(?<=[;\t\r\n]"*)(?=[=+\-@＝＋－＠])/g

function cellOf(text: string): string {
  const safe = text.replace(FORMULA, "'")
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
