import { useState } from 'preact/hooks'
import type { TrustAnchor } from '../../../dashboard/settings-schema.ts'
import { Badge } from '../../shared/badge.tsx'
import { Button } from '../../shared/button.tsx'
import { useClaimWords } from '../../shared/claims.ts'
import { Empty } from '../../shared/empty.tsx'
import { Icon } from '../../shared/icons.tsx'
import { Notice } from '../../shared/notice.tsx'
import { useNow } from '../../shared/time.tsx'
import { Confirm } from '../confirm.tsx'
import { useData } from '../data.ts'
import { Facts } from '../facts.tsx'
import { useFormat } from '../format.ts'
import { Loaded } from '../loaded.tsx'
import { Page } from '../page.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { AddTrustDialog } from './add-trust.tsx'

const SOON_MS = 30 * 86_400_000

/** The trusted issuers of this environment. */
export function Trust() {
  const words = useDashboardWords()
  const { session, call } = useSession()
  const { environment } = usePlace()
  const data = useData<{ data: TrustAnchor[] }>('trust')
  const [isAdding, setIsAdding] = useState(false)
  const [added, setAdded] = useState<number>()
  const [removed, setRemoved] = useState<TrustAnchor>()
  const isOwner = session.user.is_owner
  const add = isOwner && (
    <Button kind="primary" onClick={() => setIsAdding(true)}>
      <Icon name="plus" />
      {words.trust.add}
    </Button>
  )
  const own = data.value?.data.filter(each => each.environment === environment)
  return (
    <Page title={words.trust.title} intro={words.trust.intro} actions={own?.length !== 0 && add}>
      {!isOwner && <Notice>{words.ownersOnly}</Notice>}
      {added !== undefined && <Notice tone="ok">{words.trust.added(added)}</Notice>}
      <Loaded data={data}>{() => <Anchors anchors={own ?? []} add={add} onRemove={isOwner ? setRemoved : undefined} />}</Loaded>
      {isAdding && (
        <AddTrustDialog
          onClose={() => setIsAdding(false)}
          onAdded={anchors => {
            setIsAdding(false)
            setAdded(anchors.length)
            data.reload()
          }}
        />
      )}
      {removed && (
        <Confirm
          title={words.trust.removeTitle(removed.label)}
          name={removed.label}
          verb={words.trust.removeDo}
          onClose={() => setRemoved(undefined)}
          onConfirm={async () => {
            await call(`trust/${removed.id}`, { method: 'DELETE' })
            setRemoved(undefined)
            setAdded(undefined)
            data.reload()
          }}
        >
          {words.trust.removeMore}
        </Confirm>
      )}
    </Page>
  )
}

type AnchorsProps = {
  anchors: readonly TrustAnchor[]
  add: preact.ComponentChildren
  onRemove: ((anchor: TrustAnchor) => void) | undefined
}

function Anchors({ anchors, add, onRemove }: AnchorsProps) {
  const words = useDashboardWords().trust
  const { environment } = usePlace()
  if (anchors.length === 0) {
    return (
      <Empty title={words.emptyTitle[environment]} action={add} curl={`vidimus trust add issuer.pem --env ${environment}`}>
        {words.empty[environment]}
      </Empty>
    )
  }
  return (
    <>
      {environment === 'test' && <p class="secondary">{words.sandboxNote}</p>}
      <ul class="anchors" aria-label={words.caption}>
        {anchors.map(anchor => (
          <li key={anchor.id}>
            <AnchorCard anchor={anchor} onRemove={onRemove} />
          </li>
        ))}
      </ul>
    </>
  )
}

function AnchorCard({ anchor, onRemove }: { anchor: TrustAnchor; onRemove: AnchorsProps['onRemove'] }) {
  const words = useDashboardWords().trust
  const { document } = useClaimWords()
  const { date } = useFormat()
  const { label, subject, issuer, not_before, not_after, trusted_for, mode, crl, fingerprint_sha256, created_at } = anchor
  return (
    <article class="card stack">
      <header class="anchor-header">
        <Icon name="shield" />
        <h2>{label}</h2>
        <Ends notAfter={not_after} />
      </header>
      <Facts
        facts={[
          [words.subject, subject],
          [words.issuerName, issuer !== subject && issuer],
          [words.valid, words.validFromTo(date(not_before), date(not_after))],
          [words.trustedFor, trusted_for === null ? words.allTypes : document(trusted_for)],
          [words.mode, words.modes[mode]],
          [words.crl, crl === null ? words.crlAuto : words.crlChoices[crl]],
          [words.fingerprint, <code key="fingerprint">{fingerprint_sha256}</code>],
          [words.addedAt, date(created_at)],
        ]}
      />
      {onRemove && (
        <div>
          <Button kind="danger" aria-label={`${words.remove}: ${label}`} onClick={() => onRemove(anchor)}>
            {words.remove}
          </Button>
        </div>
      )}
    </article>
  )
}

function Ends({ notAfter }: { notAfter: string }) {
  const words = useDashboardWords().trust
  const leftMs = Date.parse(notAfter) - useNow()
  if (leftMs <= 0) return <Badge tone="no">{words.expired}</Badge>
  return leftMs < SOON_MS ? <Badge tone="wait">{words.soon}</Badge> : null
}
