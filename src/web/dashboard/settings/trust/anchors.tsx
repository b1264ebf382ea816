import type { TrustAnchor } from '../../../../dashboard/settings/trust/schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Button } from '../../../kit/button.tsx'
import { Icon } from '../../../kit/icons.tsx'
import { useClaimWords } from '../../../shared/claims.ts'
import { useNow } from '../../../shared/time.tsx'
import { useFormat } from '../../format.ts'
import { Facts } from '../../parts/facts.tsx'
import { Fingerprint } from './fingerprint.tsx'
import { useTrustWords } from './words.ts'

const SOON_MS = 30 * 86_400_000

type Props = { anchors: readonly TrustAnchor[]; onRemove: ((anchor: TrustAnchor) => void) | undefined }

/** Issuers that the operator added one by one. */
export function Anchors({ anchors, onRemove }: Props) {
  const words = useTrustWords()
  return (
    <ul class="anchors grid" aria-label={words.caption}>
      {anchors.map(anchor => (
        <li key={anchor.id}>
          <AnchorCard anchor={anchor} onRemove={onRemove} />
        </li>
      ))}
    </ul>
  )
}

function AnchorCard({ anchor, onRemove }: { anchor: TrustAnchor; onRemove: Props['onRemove'] }) {
  const words = useTrustWords()
  const { document } = useClaimWords()
  const { date } = useFormat()
  const { label, subject, issuer, not_before, not_after, trusted_for, use, mode, crl, fingerprint_sha256, created_at } = anchor
  return (
    <article class="card stack">
      <header class="anchor-header line start">
        <Icon name="shield" />
        <h3 class="grow breaks">{label}</h3>
        <Ends notAfter={not_after} />
      </header>
      <Facts
        facts={[
          [words.subject, subject],
          [words.issuerName, issuer !== subject && issuer],
          [words.valid, words.validFromTo(date(not_before), date(not_after))],
          [words.trustedFor, trusted_for === null ? words.allTypes : document(trusted_for)],
          [words.use, words.uses[use]],
          [words.mode, words.modes[mode]],
          [words.crl, crl === null ? words.crlAuto : words.crlChoices[crl]],
          [words.fingerprint, <Fingerprint key="fingerprint" hex={fingerprint_sha256} />],
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
  const words = useTrustWords()
  const leftMs = Date.parse(notAfter) - useNow()
  if (leftMs <= 0) return <Badge tone="no">{words.expired}</Badge>
  return leftMs < SOON_MS ? <Badge tone="wait">{words.soon}</Badge> : null
}
