import { useState } from 'preact/hooks'
import type {
  RevocationLists,
  TrustAnchor,
  TrustBlock,
  TrustSource,
  TrustSources,
} from '../../../../dashboard/settings/trust/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Empty } from '../../../kit/empty.tsx'
import { Icon } from '../../../kit/icons.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { useData } from '../../data.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { useRoute } from '../../route.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { AddTrustDialog } from './add-trust.tsx'
import { Anchors } from './anchors.tsx'
import { Blocks } from './blocks.tsx'
import { ImportBundleDialog } from './import-bundle.tsx'
import { AddListDialog } from './lists/add-list.tsx'
import { TrustLists } from './lists/lists.tsx'
import { Revocation } from './revocation.tsx'
import { useTrustWords } from './words.ts'

/** Trusted issuers of this environment: lists, single issuers, and blocked certificates. */
export function Trust() {
  const words = useTrustWords()
  const { ownersOnly } = useDashboardWords()
  const { session } = useSession()
  const { environment } = usePlace()
  const sources = useData<TrustSources>('trust/sources')
  const anchors = useData<{ data: TrustAnchor[] }>('trust')
  const blocks = useData<{ data: TrustBlock[] }>('trust/blocks')
  const revocation = useData<RevocationLists>('trust/revocation')
  const [said, setSaid] = useState<string>()
  const isOwner = session.user.is_owner
  const here = <Row extends { environment: string }>(rows: readonly Row[]) => rows.filter(row => row.environment === environment)
  return (
    <Page title={words.title} intro={words.intro}>
      {!isOwner && <Notice>{ownersOnly}</Notice>}
      <div role="status">{said !== undefined && <Notice tone="ok">{said}</Notice>}</div>
      <Loaded data={sources}>
        {({ data, presets }) => (
          <Lists
            sources={here(data)}
            presets={here(presets)}
            blocks={here(blocks.value?.data ?? [])}
            onChange={message => {
              setSaid(message)
              sources.reload()
              blocks.reload()
            }}
            onBundle={() => {
              setSaid(undefined)
              for (const each of [sources, anchors, blocks, revocation]) each.reload()
            }}
          />
        )}
      </Loaded>
      <Loaded data={anchors}>
        {({ data }) => (
          <SingleIssuers
            anchors={here(data)}
            hasLists={here(sources.value?.data ?? []).length > 0}
            onChange={message => {
              setSaid(message)
              anchors.reload()
            }}
          />
        )}
      </Loaded>
      <Loaded data={revocation}>{lists => <Revocation lists={lists} />}</Loaded>
      <Loaded data={blocks}>{({ data }) => <Blocks blocks={here(data)} onChange={blocks.reload} />}</Loaded>
    </Page>
  )
}

type ListsProps = {
  sources: readonly TrustSource[]
  presets: TrustSources['presets']
  blocks: readonly TrustBlock[]
  onChange: (message?: string) => void
  /** A bundle may bring everything. */
  onBundle: () => void
}

function Lists({ sources, presets, blocks, onChange, onBundle }: ListsProps) {
  const words = useTrustWords()
  const { session } = useSession()
  const { environment } = usePlace()
  const wanted = useRoute().search.get('open')
  const [asks, setAsks] = useState<'list' | 'bundle' | undefined>(
    session.user.is_owner && presets.some(({ name }) => name === wanted) ? 'list' : undefined,
  )
  const close = () => setAsks(undefined)
  return (
    <section class="stack" aria-labelledby="lists">
      <div class="section-header row between">
        <h2 id="lists">{words.lists.title}</h2>
        {session.user.is_owner && (
          <div class="row">
            <Button onClick={() => setAsks('bundle')}>{words.bundle.open}</Button>
            <Button kind="primary" onClick={() => setAsks('list')}>
              <Icon name="plus" />
              {words.lists.add}
            </Button>
          </div>
        )}
      </div>
      <p class="secondary">
        {words.lists.more} {sources.length === 0 && words.lists.none[environment]}
      </p>
      <TrustLists sources={sources} blocks={blocks} onChange={onChange} />
      {asks === 'bundle' && <ImportBundleDialog onClose={close} onImported={onBundle} />}
      {asks === 'list' && (
        <AddListDialog
          presets={presets}
          wanted={wanted ?? undefined}
          onClose={close}
          onAdded={({ label, entries }) => {
            close()
            onChange(words.addList.added(label, entries))
          }}
        />
      )}
    </section>
  )
}

type SingleProps = { anchors: readonly TrustAnchor[]; hasLists: boolean; onChange: (message?: string) => void }

function SingleIssuers({ anchors, hasLists, onChange }: SingleProps) {
  const words = useTrustWords()
  const { session, call } = useSession()
  const { environment } = usePlace()
  const { search } = useRoute()
  const [isAdding, setIsAdding] = useState(session.user.is_owner && search.get('open') === 'issuer')
  const [removed, setRemoved] = useState<TrustAnchor>()
  const isOwner = session.user.is_owner
  const add = isOwner && (
    <Button onClick={() => setIsAdding(true)}>
      <Icon name="plus" />
      {words.add}
    </Button>
  )
  const isEmpty = anchors.length === 0
  return (
    <section class="stack" aria-labelledby="single">
      <div class="section-header row between">
        <h2 id="single">{words.singleTitle}</h2>
        {(!isEmpty || hasLists) && add}
      </div>
      {environment === 'test' && (!isEmpty || hasLists) && <p class="secondary">{words.sandboxNote}</p>}
      {isEmpty && !hasLists && (
        <Empty title={words.emptyTitle[environment]} action={add} curl={`vidimus trust add issuer.pem --env ${environment}`}>
          {words.empty[environment]}
        </Empty>
      )}
      {!isEmpty && <Anchors anchors={anchors} onRemove={isOwner ? setRemoved : undefined} />}
      {isAdding && (
        <AddTrustDialog
          onClose={() => setIsAdding(false)}
          onAdded={({ length }) => {
            setIsAdding(false)
            onChange(words.added(length))
          }}
        />
      )}
      {removed && (
        <Confirm
          title={words.removeTitle(removed.label)}
          name={removed.label}
          verb={words.removeDo}
          onClose={() => setRemoved(undefined)}
          onConfirm={async () => {
            await call(`trust/${removed.id}`, { method: 'DELETE' })
            setRemoved(undefined)
            onChange()
          }}
        >
          {words.removeMore}
        </Confirm>
      )}
    </section>
  )
}
