import { useState } from 'preact/hooks'
import type { TrustAnchor, TrustBlock, TrustSource, TrustSourceDetail } from '../../../../../dashboard/settings/trust/schema.ts'
import { Badge } from '../../../../kit/badge.tsx'
import { Field } from '../../../../kit/field.tsx'
import { Table } from '../../../../kit/table.tsx'
import { useClaimWords } from '../../../../shared/claims.ts'
import { useData } from '../../../data.ts'
import { useFormat } from '../../../format.ts'
import { Loaded } from '../../../parts/loaded.tsx'
import { useSession } from '../../../session.tsx'
import { BlockDialog } from '../blocks.tsx'
import { useTrustWords } from '../words.ts'

/** A list may have 2,000. */
const SHOWN_MAX = 50

type Props = { source: TrustSource; blocks: readonly TrustBlock[]; onChange: () => void }

/** The issuers on a list, loaded when somebody looks. */
export function ListIssuers({ source, blocks, onChange }: Props) {
  const words = useTrustWords().lists
  const [isOpen, setIsOpen] = useState(false)
  const data = useData<TrustSourceDetail>(isOpen ? `trust/sources/${source.id}` : null)
  return (
    <details class="folded" onToggle={event => setIsOpen(event.currentTarget.open)}>
      <summary>{words.see(source.entries + source.withdrawn)}</summary>
      {isOpen && (
        <Loaded data={data}>
          {({ anchors }) => <Issuers anchors={anchors} label={source.label} {...{ blocks, onChange }} />}
        </Loaded>
      )}
    </details>
  )
}

/** One row for each certificate: a list may name it for several documents. */
type Issuer = TrustAnchor & { documents: string[] }

type IssuersProps = { anchors: readonly TrustAnchor[]; label: string; blocks: readonly TrustBlock[]; onChange: () => void }

function Issuers({ anchors, label, blocks, onChange }: IssuersProps) {
  const { lists: words, uses } = useTrustWords()
  const { session } = useSession()
  const { document } = useClaimWords()
  const { date } = useFormat()
  const [sought, setSought] = useState('')
  const [blocking, setBlocking] = useState<Issuer>()
  const issuers = byCertificate(anchors, document)
  const found = issuers.filter(issuer => isSought(issuer, sought))
  const isBlocked = ({ fingerprint_sha256 }: Issuer) => blocks.some(({ fingerprint }) => fingerprint === fingerprint_sha256)
  return (
    <div class="stack">
      {issuers.length > 5 && (
        <Field label={words.search} hint={words.searchHint} autocomplete="off" value={sought} onText={setSought} />
      )}
      <p class="only-heard" role="status">
        {words.found(found.length)}
      </p>
      {found.length > 0 && (
        <Table
          caption={`${words.issuers}: ${label}`}
          rows={found.slice(0, SHOWN_MAX)}
          keyOf={({ id }) => id}
          columns={[
            {
              title: words.issuer,
              kind: 'wraps',
              cell: (issuer, folded) => (
                <>
                  <strong>{issuer.label}</strong>
                  <span class="secondary">
                    {' '}
                    {[issuer.entity !== issuer.label && issuer.entity, issuer.country].filter(Boolean).join(', ')}
                  </span>{' '}
                  {issuer.use !== 'both' && <Badge>{uses[issuer.use]}</Badge>}{' '}
                  {isBlocked(issuer) && <Badge tone="no">{words.blocked}</Badge>}
                  {folded}
                </>
              ),
            },
            { title: words.types, kind: 'wraps', folds: 'tablet', below: 'plain', cell: ({ documents }) => documents.join(', ') },
            { title: words.ends, folds: 'phone', below: 'titled', cell: ({ not_after }) => date(not_after) },
          ]}
          actions={
            session.user.is_owner
              ? {
                  title: words.actions,
                  label: ({ label }, verb) => `${verb}: ${label}`,
                  of: issuer => [!isBlocked(issuer) && { verb: words.block, isDangerous: true, act: () => setBlocking(issuer) }],
                }
              : undefined
          }
        />
      )}
      {found.length === 0 && <p class="secondary">{words.found(0)}</p>}
      {found.length > SHOWN_MAX && <p class="hint">{words.moreFound(found.length - SHOWN_MAX)}</p>}
      {blocking && (
        <BlockDialog
          label={blocking.label}
          fingerprint={blocking.fingerprint_sha256}
          onClose={() => setBlocking(undefined)}
          onBlocked={() => {
            setBlocking(undefined)
            onChange()
          }}
        />
      )}
    </div>
  )
}

function byCertificate(anchors: readonly TrustAnchor[], document: (type: string) => string): Issuer[] {
  const grouped = Map.groupBy(anchors, ({ fingerprint_sha256, use }) => `${fingerprint_sha256} ${use}`)
  return [...grouped.values()]
    .map(([first, ...others]) => ({
      ...first!,
      documents: [...new Set([first!, ...others].map(({ trusted_for }) => document(trusted_for ?? '')))],
    }))
    .toSorted((a, b) => a.label.localeCompare(b.label))
}

const isSought = (issuer: Issuer, sought: string): boolean =>
  [issuer.label, issuer.entity, issuer.country, issuer.trusted_for, ...issuer.documents, issuer.fingerprint_sha256]
    .join(' ')
    .toLowerCase()
    .includes(sought.trim().toLowerCase())
