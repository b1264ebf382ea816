import type { VerificationDetail } from '../../../dashboard/verifications/schema.ts'
import { StatusBadge } from '../../kit/badge.tsx'
import { Seal, type SealState } from '../../kit/seal.tsx'
import { deniesAge } from '../../shared/claims.ts'
import { useOutcome, useOutcomeNames } from '../../shared/outcome.ts'
import { Time } from '../../shared/time.tsx'
import { hrefTo, Link } from '../route.tsx'
import { useTrustWords } from '../settings/trust/words.ts'
import { findNamed, type TemplatesData } from '../template-names.ts'
import { useVerificationWords } from './words.ts'

/** Ends that nobody refused. */
const NEUTRAL = ['wallet_declined', 'cancelled', 'redirect_not_followed']

type Look = { seal: SealState; tone: 'pending' | 'completed' | 'failed' | 'expired' | 'neutral' }

/** Green only for what a rule judged, and nobody denied. */
function lookOf({ verification: { status, error }, is_judged }: VerificationDetail): Look {
  if (status === 'pending') return { seal: 'busy', tone: status }
  if (status === 'expired') return { seal: 'expired', tone: status }
  if (error?.code === 'not_compared') return { seal: 'expired', tone: 'expired' }
  if (NEUTRAL.includes(error?.code ?? '')) return { seal: 'open', tone: 'neutral' }
  if (status === 'failed') return { seal: 'refused', tone: 'failed' }
  return is_judged ? { seal: 'verified', tone: 'completed' } : { seal: 'answered', tone: 'neutral' }
}

/** The result and, for a failure, the remedy. */
export function Verdict({ detail, templates }: { detail: VerificationDetail; templates: TemplatesData }) {
  const words = useVerificationWords()
  const { add } = useTrustWords()
  const { verification, timeline } = detail
  const { status, error } = verification
  const outcome = useOutcome(error?.code ?? 'expired')
  const proven = useProven(detail, templates)
  const refused = useRefused(detail, templates, outcome.sentence)
  const sentence = {
    pending: pendingSentence(words.verdicts, timeline),
    completed: proven,
    failed: refused,
    expired: outcome.sentence,
  }[status]
  const { seal, tone } = lookOf(detail)
  return (
    <section class={`verdict line start ${tone}`} role="status">
      <Seal state={seal} size={72} />
      <div class="grow stack tight">
        <p class="sentence">{sentence}</p>
        <Byline detail={detail} />
        {status === 'failed' && (
          <p>
            {outcome.remedy} {error && <code class="small">{error.code}</code>}{' '}
            {error?.code === 'issuer_untrusted' && <Link href={hrefTo('trust')}>{add}</Link>}
          </p>
        )}
      </div>
    </section>
  )
}

type VerdictWords = ReturnType<typeof useVerificationWords>['verdicts']

function pendingSentence(words: VerdictWords, timeline: VerificationDetail['timeline']): string {
  const held = timeline.find(moment => moment.event === 'response_held')
  if (held) return words.held[held.awaits]
  return timeline.some(({ event }) => event === 'request_fetched') ? words.fetched : words.pending
}

function useProven({ verification, is_judged }: VerificationDetail, templates: TemplatesData): string {
  const words = useVerificationWords().verdicts
  const years = useYears(verification, templates)
  if (!is_judged) return deniesAge(verification.claims ?? {}) ? words.ageDenied : words.shared
  return years ? words.ageOver(String(years)) : words.completed
}

function useRefused({ verification }: VerificationDetail, templates: TemplatesData, sentence: string): string {
  const words = useVerificationWords().verdicts
  const years = useYears(verification, templates)
  return verification.error?.code === 'claim_not_satisfied' && years ? words.ageNotProven(String(years)) : sentence
}

/** The age that the template proves. */
const useYears = ({ template }: VerificationDetail['verification'], { value }: TemplatesData): number | undefined =>
  findNamed(value?.data, template)?.template.age_over ?? undefined

function Byline({ detail: { verification, is_judged } }: { detail: VerificationDetail }) {
  const words = useVerificationWords()
  const names = useOutcomeNames()
  const { status, error, responded_at, created_at, credentials = [] } = verification
  const isHeld = status === 'pending' && responded_at !== undefined
  const since = isHeld ? names.held : responded_at ? words.checked : words.created
  const issuers = new Set(credentials.map(({ issuer }) => issuerName(issuer)).filter(Boolean))
  return (
    <p class="secondary">
      <StatusBadge status={status} code={error?.code} isHeld={isHeld} isJudged={is_judged} /> {since}{' '}
      <Time at={responded_at ?? created_at} exact />
      {issuers.size > 0 && ` · ${words.issuedBy([...issuers].join(', '))}`}
    </p>
  )
}

export const issuerName = ({ common_name, country }: { common_name?: string; country?: string }): string =>
  [common_name, country && `(${country})`].filter(Boolean).join(' ')
