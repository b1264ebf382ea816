import type { TrustSource } from '../../../../../dashboard/settings/trust/schema.ts'
import { useTrustWords } from '../words.ts'

type Difference = NonNullable<TrustSource['difference']>

/** Changes by the last update of a list: counts, and the names behind them. */
export function ListChange({ difference }: { difference: Difference }) {
  const words = useTrustWords().lists
  const { added, removed, added_count, removed_count } = difference
  if (added_count + removed_count === 0) return words.sameIssuers
  return (
    <div class="grid dense">
      {added_count > 0 && <Names summary={words.added(added_count)} names={added} />}
      {removed_count > 0 && <Names summary={words.removed(removed_count)} names={removed} />}
    </div>
  )
}

function Names({ summary, names }: { summary: string; names: Difference['added'] }) {
  return (
    <details>
      <summary>{summary}</summary>
      <ul class="plain-list">
        {names.map(({ name, fingerprint }) => (
          <li key={fingerprint}>{name}</li>
        ))}
      </ul>
    </details>
  )
}
