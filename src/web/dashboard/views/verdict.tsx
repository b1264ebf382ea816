import type { VerificationDetail } from '../../../dashboard/verification-schema.ts'
import { useOutcome } from '../../shared/outcome.ts'
import { Seal, type SealState } from '../../shared/seal.tsx'
import { Time } from '../../shared/time.tsx'
import { hrefTo, Link } from '../route.tsx'
import type { TemplatesData } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'

const SEALS: Record<VerificationDetail['verification']['status'], SealState> = {
  pending: 'busy',
  completed: 'verified',
  failed: 'refused',
  expired: 'expired',
}

/** The result and, for a failure, the remedy. */
export function Verdict({ detail, templates }: { detail: VerificationDetail; templates: TemplatesData }) {
  const words = useDashboardWords()
  const { verification, timeline } = detail
  const { status, error } = verification
  const outcome = useOutcome(error?.code ?? 'expired')
  const sentence = {
    pending: pendingSentence(words.verification.verdicts, timeline),
    completed: useProven(detail, templates),
    failed: outcome.sentence,
    expired: outcome.sentence,
  }[status]
  return (
    <section class={`verdict ${status}`} role="status">
      <Seal state={SEALS[status]} size={72} />
      <div class="stack tight">
        <p class="sentence">{sentence}</p>
        <Byline detail={detail} />
        {status === 'failed' && (
          <p>
            {outcome.remedy} {error && <code class="hint">{error.code}</code>}{' '}
            {error?.code === 'issuer_untrusted' && <Link href={hrefTo('trust')}>{words.trust.add}</Link>}
          </p>
        )}
      </div>
    </section>
  )
}

type VerdictWords = ReturnType<typeof useDashboardWords>['verification']['verdicts']

function pendingSentence(words: VerdictWords, timeline: VerificationDetail['timeline']): string {
  const has = (wanted: VerificationDetail['timeline'][number]['event']) => timeline.some(({ event }) => event === wanted)
  return has('response_held') ? words.held : has('request_fetched') ? words.fetched : words.pending
}

function useProven({ verification }: VerificationDetail, templates: TemplatesData): string {
  const words = useDashboardWords().verification.verdicts
  const years = templates.value?.data.find(({ key }) => key === verification.template)?.age_over
  return years ? words.ageOver(String(years)) : words.completed
}

function Byline({ detail: { verification } }: { detail: VerificationDetail }) {
  const words = useDashboardWords().verification
  const { responded_at, created_at, credentials = [] } = verification
  const issuers = new Set(credentials.map(({ issuer }) => issuerName(issuer)).filter(Boolean))
  return (
    <p class="secondary">
      {responded_at ? words.checked : words.created} <Time at={responded_at ?? created_at} exact />
      {issuers.size > 0 && ` · ${words.issuedBy([...issuers].join(', '))}`}
    </p>
  )
}

export const issuerName = ({ common_name, country }: { common_name?: string; country?: string }): string =>
  [common_name, country && `(${country})`].filter(Boolean).join(' ')
