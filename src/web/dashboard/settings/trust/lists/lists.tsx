import { useState } from 'preact/hooks'
import type { RefreshedSource, TrustBlock, TrustSource } from '../../../../../dashboard/settings/trust/schema.ts'
import { Badge } from '../../../../kit/badge.tsx'
import { Button } from '../../../../kit/button.tsx'
import { Icon } from '../../../../kit/icons.tsx'
import { Notice } from '../../../../kit/notice.tsx'
import { useClaimWords } from '../../../../shared/claims.ts'
import { Time } from '../../../../shared/time.tsx'
import { useAction } from '../../../action.ts'
import { useFormat } from '../../../format.ts'
import { Confirm } from '../../../parts/confirm.tsx'
import { Facts } from '../../../parts/facts.tsx'
import { base64Of, FileInput } from '../../../parts/file-button.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { useSession } from '../../../session.tsx'
import { Fingerprint } from '../fingerprint.tsx'
import { useTrustWords } from '../words.ts'
import { ListChange } from './list-change.tsx'
import { ListIssuers } from './list-issuers.tsx'
import { LIST_MS_MAX } from './list-limits.ts'
import { SignersDialog } from './signers.tsx'

const LOOK = {
  fresh: { tone: 'ok', icon: 'tick' },
  failing: { tone: 'wait', icon: 'warning' },
  stale: { tone: 'wait', icon: 'clock' },
  ended: { tone: 'no', icon: 'cross' },
} as const

type Props = { sources: readonly TrustSource[]; blocks: readonly TrustBlock[]; onChange: (message?: string) => void }

/** The lists of an environment, a card each. */
export function TrustLists({ sources, blocks, onChange }: Props) {
  const words = useTrustWords().lists
  if (sources.length === 0) return null
  return (
    <ul class="grid" aria-label={words.caption}>
      {sources.map(source => (
        <li key={source.id}>
          <ListCard source={source} blocks={blocks} onChange={onChange} />
        </li>
      ))}
    </ul>
  )
}

type CardProps = { source: TrustSource; blocks: readonly TrustBlock[]; onChange: Props['onChange'] }

function ListCard({ source, blocks, onChange }: CardProps) {
  const words = useTrustWords().lists
  const { session } = useSession()
  const state = source.state === 'fresh' && source.failure ? 'failing' : source.state
  return (
    <article class="card stack">
      <header class="anchor-header line start">
        <Icon name="list" />
        <h3 class="grow breaks">{source.label}</h3>
        <Badge {...LOOK[state]}>{words.states[state]}</Badge>
      </header>
      <Failure source={source} />
      <ListFacts source={source} />
      {session.user.is_owner && <ListActions source={source} onChange={onChange} />}
      {source.entries + source.withdrawn > 0 && <ListIssuers source={source} blocks={blocks} onChange={onChange} />}
    </article>
  )
}

function Failure({ source: { failure, announced } }: { source: TrustSource }) {
  const words = useTrustWords().lists
  const { time } = useFormat()
  if (!failure) return null
  const { signer } = failure
  return (
    <Notice tone="wait">
      <p>
        {words.refusals[failure.code]} {words.failingSince(time(failure.since))}
      </p>
      {signer ? (
        <>
          <Fingerprint hex={signer} />
          <p>{announced.includes(signer) ? words.announced : words.notAnnounced}</p>
        </>
      ) : (
        <p lang="en" class="hint">
          {failure.message}
        </p>
      )}
    </Notice>
  )
}

function ListFacts({ source }: { source: TrustSource }) {
  const words = useTrustWords().lists
  const { date, number } = useFormat()
  const { document } = useClaimWords()
  const { entries, withdrawn, skipped, pins, signer } = source
  const left = Object.entries(skipped).filter(([, count]) => count > 0)
  const sum = left.reduce((all, [, count]) => all + count, 0)
  const reasons = left.map(([reason, count]) => `${words.skippedReasons[reason] ?? reason} ${number(count)}`).join(', ')
  const counts = [
    number(entries),
    withdrawn > 0 && words.withdrawn(withdrawn),
    sum > 0 && `${words.skipped(sum)} (${reasons})`,
  ].filter(Boolean)
  const subject = pins.find(({ fingerprint }) => fingerprint === signer)?.subject
  return (
    <Facts
      facts={[
        [words.number, source.sequence === null ? null : number(source.sequence)],
        [words.issued, date(source.issued_at)],
        [words.next, date(source.next_update)],
        [words.until, source.state !== 'fresh' && date(source.ends_at)],
        [words.issuers, counts.join(' · ')],
        [
          words.types,
          source.use === 'relying_party' ? words.forPapers : [...new Set(source.counts_for.map(document))].join(', '),
        ],
        [
          words.signer,
          <span key="signer">
            {subject} <Fingerprint hex={signer} />
          </span>,
        ],
        [words.looked, <Time key="looked" at={source.checked_at} />],
        [words.location, source.location ?? words.byHand],
        [words.change, source.difference && <ListChange key="change" difference={source.difference} />],
      ]}
    />
  )
}

function ListActions({ source, onChange }: Omit<CardProps, 'blocks'>) {
  const words = useTrustWords().lists
  const { call } = useSession()
  const [asks, setAsks] = useState<'signers' | 'remove'>()
  const [refused, setRefused] = useState<RefreshedSource['refused']>()
  const { id, label, location } = source
  const refresh = useAction(async (file?: File) => {
    setRefused(null)
    const body = file && { list: await base64Of(file) }
    const result = await call<RefreshedSource>(`trust/sources/${id}/refresh`, { method: 'POST', body, timeoutMs: LIST_MS_MAX })
    setRefused(result.refused)
    onChange(result.outcome === 'refused' ? undefined : words.outcomes[result.outcome](label))
  })
  return (
    <>
      <Problem of={refresh.problem} />
      {refused && (
        <Notice tone="no" alert>
          {words.refused(label)} {words.refusals[refused.code]}
        </Notice>
      )}
      <div class="row">
        {location !== null && (
          <Button busy={refresh.isBusy} aria-label={`${words.refresh}: ${label}`} onClick={() => refresh.run()}>
            <Icon name="reload" />
            {words.refresh}
          </Button>
        )}
        {location === null && <FileInput label={words.refreshFile} onFile={file => refresh.run(file)} />}
        <Button aria-label={`${words.signers}: ${label}`} onClick={() => setAsks('signers')}>
          {words.signers}
        </Button>
        <Button kind="danger" aria-label={`${words.remove}: ${label}`} onClick={() => setAsks('remove')}>
          {words.remove}
        </Button>
      </div>
      {asks === 'signers' && <SignersDialog source={source} onClose={() => setAsks(undefined)} onChange={onChange} />}
      {asks === 'remove' && (
        <Confirm
          title={words.removeTitle(label)}
          name={label}
          verb={words.removeDo}
          onClose={() => setAsks(undefined)}
          onConfirm={async () => {
            await call(`trust/sources/${id}`, { method: 'DELETE' })
            setAsks(undefined)
            onChange(words.removedList(label))
          }}
        >
          {words.removeMore}
        </Confirm>
      )}
    </>
  )
}
