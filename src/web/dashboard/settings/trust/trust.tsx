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
import { BlockDialog, Blocks } from './blocks.tsx'
import { ImportBundleDialog } from './import-bundle.tsx'
import { AddListDialog } from './lists/add-list.tsx'
import { TrustLists } from './lists/lists.tsx'
import { Revocation } from './revocation.tsx'
import { useTrustWords } from './words.ts'

/** Trusted issuers of this environment: lists first; single issuers and blocked certificates where there are some. */
export function Trust() {
  const words = useTrustWords()
  const { ownersOnly } = useDashboardWords()
  const { is_owner: isOwner } = useSession().session.user
  const { environment } = usePlace()
  const wanted = useRoute().search.get('open') ?? undefined
  const sources = useData<TrustSources>('trust/sources')
  const anchors = useData<{ data: TrustAnchor[] }>('trust')
  const blocks = useData<{ data: TrustBlock[] }>('trust/blocks')
  const revocation = useData<RevocationLists>('trust/revocation')
  const [said, setSaid] = useState<string>()
  const [asks, setAsks] = useState<'list' | 'issuer' | 'bundle' | 'block' | undefined>(
    !isOwner || wanted === undefined ? undefined : wanted === 'issuer' ? 'issuer' : 'list',
  )
  const here = <Row extends { environment: string }>(rows: readonly Row[] = []) =>
    rows.filter(row => row.environment === environment)
  const close = () => setAsks(undefined)
  const done = (message: string | undefined, ...changed: { reload: () => void }[]) => {
    close()
    setSaid(message)
    for (const each of changed) each.reload()
  }
  const add = isOwner && (
    <Button kind="primary" onClick={() => setAsks('list')}>
      <Icon name="plus" />
      {words.lists.add}
    </Button>
  )
  const [lists, issuers] = [here(sources.value?.data), here(anchors.value?.data)]
  const isEmpty = sources.value && anchors.value && lists.length + issuers.length === 0
  return (
    <Page title={words.title} intro={words.intro} actions={!isEmpty && add}>
      {!isOwner && <Notice>{ownersOnly}</Notice>}
      <div role="status">{said !== undefined && <Notice tone="ok">{said}</Notice>}</div>
      {isEmpty && (
        <Empty title={words.emptyTitle[environment]} action={add}>
          {words.empty[environment]}
        </Empty>
      )}
      <Loaded data={sources}>
        {() =>
          lists.length > 0 && (
            <section class="stack" aria-labelledby="lists">
              <h2 id="lists">{words.lists.title}</h2>
              <p class="secondary">{words.lists.more}</p>
              <TrustLists
                sources={lists}
                blocks={here(blocks.value?.data)}
                onChange={message => done(message, sources, blocks)}
              />
            </section>
          )
        }
      </Loaded>
      <Loaded data={anchors}>
        {() => issuers.length > 0 && <SingleIssuers anchors={issuers} onChange={() => done(undefined, anchors)} />}
      </Loaded>
      <Loaded data={revocation}>{kept => kept.data.length > 0 && <Revocation lists={kept} />}</Loaded>
      <Loaded data={blocks}>
        {({ data }) => here(data).length > 0 && <Blocks blocks={here(data)} onChange={blocks.reload} />}
      </Loaded>
      {isOwner && (
        <details class="folded">
          <summary>{words.otherWays}</summary>
          <div class="row">
            <Button onClick={() => setAsks('issuer')}>{words.add}</Button>
            <Button onClick={() => setAsks('bundle')}>{words.bundle.open}</Button>
            <Button onClick={() => setAsks('block')}>{words.blocks.add}</Button>
          </div>
        </details>
      )}
      {asks === 'list' && sources.value && (
        <AddListDialog
          presets={here(sources.value.presets)}
          wanted={wanted}
          onClose={close}
          onAdded={({ label, entries }: TrustSource) => done(words.addList.added(label, entries), sources, blocks)}
        />
      )}
      {asks === 'issuer' && <AddTrustDialog onClose={close} onAdded={({ length }) => done(words.added(length), anchors)} />}
      {asks === 'bundle' && (
        <ImportBundleDialog
          onClose={close}
          onImported={() => {
            setSaid(undefined)
            for (const each of [sources, anchors, blocks, revocation]) each.reload()
          }}
        />
      )}
      {asks === 'block' && <BlockDialog onClose={close} onBlocked={() => done(undefined, blocks)} />}
    </Page>
  )
}

type SingleProps = { anchors: readonly TrustAnchor[]; onChange: () => void }

function SingleIssuers({ anchors, onChange }: SingleProps) {
  const words = useTrustWords()
  const { session, call } = useSession()
  const { environment } = usePlace()
  const [removed, setRemoved] = useState<TrustAnchor>()
  return (
    <section class="stack" aria-labelledby="single">
      <h2 id="single">{words.singleTitle}</h2>
      {environment === 'test' && <p class="secondary">{words.sandboxNote}</p>}
      <Anchors anchors={anchors} onRemove={session.user.is_owner ? setRemoved : undefined} />
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
