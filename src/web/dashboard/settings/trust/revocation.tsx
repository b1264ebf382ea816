import { useEffect, useState } from 'preact/hooks'
import type { RevocationList, RevocationLists } from '../../../../dashboard/settings/trust/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Detail } from '../../../kit/detail.tsx'
import { useFormat } from '../../format.ts'
import { useSession } from '../../session.tsx'
import { useTrustWords } from './words.ts'

/** Lists of revoked documents that are kept for the time without internet. They are for both environments. */
export function Revocation({ lists }: { lists: RevocationLists }) {
  const words = useTrustWords().revocation
  const { session, call } = useSession()
  const [{ data, max_age_hours }, setLists] = useState(lists)
  useEffect(() => setLists(lists), [lists])
  const refresh = async () => setLists(await call<RevocationLists>('trust/revocation/refresh', { method: 'POST' }))
  return (
    <section class="stack" aria-labelledby="revocation">
      <div class="section-header row between">
        <h2 id="revocation">{words.title}</h2>
        {session.user.is_owner && <Button onClick={refresh}>{words.refresh}</Button>}
      </div>
      <p class="secondary">
        {words.more} {words.maxAge(max_age_hours)}
      </p>
      <ul class="grid" aria-label={words.title}>
        {data.map(list => (
          <Row key={`${list.media} ${list.uri}`} list={list} />
        ))}
      </ul>
    </section>
  )
}

function Row({ list: { uri, media, issued_at, ends_at, as_of, from, problem } }: { list: RevocationList }) {
  const words = useTrustWords().revocation
  const { time } = useFormat()
  return (
    <li class="card entry breaks">
      <p>
        <strong>{URL.parse(uri)?.host ?? uri}</strong>
      </p>
      <p class="hint">
        {words.kinds[media]} · <code>{uri}</code>
      </p>
      <p class="hint">
        {[words.issued(time(issued_at)), ends_at && words.ends(time(ends_at)), words.from[from](time(as_of))]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {problem && (
        <p lang="en" class="hint">
          <Detail text={problem} />
        </p>
      )}
    </li>
  )
}
