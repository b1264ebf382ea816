import { staleListTime } from '../../../base/stale-list.ts'
import type { Moment } from '../../../dashboard/verifications/schema.ts'
import type { Check } from '../../../openid4vp/finding.ts'
import { Detail } from '../../kit/detail.tsx'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { useCheck, useOutcome } from '../../shared/outcome.ts'
import type { OutcomeCode } from '../../shared/outcome-code.ts'
import { useFormat } from '../format.ts'
import { useVerificationWords } from './words.ts'

type Checked = Extract<Moment, { event: 'response_posted' }>['credentials'][number]
type Finding = Checked['checks'][number]

const ICONS: Record<Finding['status'], IconName> = { pass: 'tick', fail: 'cross', warning: 'warning', skipped: 'dash' }

/** The outcomes of each check; the first unless the session names another. */
const FAILURES: Record<Check, readonly OutcomeCode[]> = {
  format: ['presentation_malformed'],
  issuer_signature: ['signature_invalid', 'presentation_malformed'],
  digests: ['signature_invalid', 'presentation_malformed'],
  doctype: ['query_not_satisfied', 'presentation_malformed', 'signature_invalid'],
  holder_binding: ['holder_binding_invalid', 'presentation_malformed'],
  validity: ['credential_expired', 'credential_not_yet_valid', 'issuer_untrusted'],
  issuer_chain: ['issuer_untrusted'],
  status: ['credential_revoked', 'issuer_status_unknown', 'status_unknown'],
  query: ['query_not_satisfied'],
  rule: ['claim_not_satisfied'],
  merge: [],
  environment: ['issuer_untrusted'],
}

const SOUND: readonly string[] = ['format', 'issuer_signature', 'digests']
const GOOD: readonly string[] = [...SOUND, 'doctype', 'holder_binding', 'validity', 'issuer_chain', 'status', 'environment']
/** Checks whose words call the document good: not used if one of these checks failed. */
const PRESUMED: Readonly<Record<string, readonly string[]>> = { issuer_chain: SOUND, query: GOOD, rule: GOOD }

/** The checks of one document. A failed one opens to its meaning and remedy. */
export function CheckList({ checked, error }: { checked: Checked; error: string | undefined }) {
  const words = useVerificationWords()
  const crossed = checked.checks.filter(({ status }) => status === 'fail').map(({ check }) => check)
  return (
    <ul class="checks grid" aria-label={words.checksOf(checked.credential)}>
      {checked.checks.map((finding, i) => (
        <li key={i} class={isSandboxNote(finding) ? 'note' : finding.status}>
          <Icon name={isSandboxNote(finding) ? 'info' : ICONS[finding.status]} />
          {finding.status === 'fail' ? (
            <Crossed
              finding={finding}
              error={error}
              isConsequence={crossed.some(each => PRESUMED[finding.check]?.includes(each))}
            />
          ) : (
            <Plain finding={finding} />
          )}
        </li>
      ))}
    </ul>
  )
}

/** A document of the sandbox in a test session is as it should be. */
const isSandboxNote = ({ check, status }: Finding): boolean => check === 'environment' && status === 'warning'

/** Checks whose warning means that the check did not hold. */
const WARNED: readonly string[] = ['merge', 'status']

function Plain({ finding }: { finding: Finding }) {
  const words = useVerificationWords()
  const { check, status, detail } = finding
  const { passed, failed } = useCheck(check)
  const { time } = useFormat()
  const asOf = staleListTime(detail)
  const listTime = asOf === undefined ? undefined : new Date(asOf).toISOString()
  const against = listTime && words.checkedAgainst(time(listTime))
  const sentence = against ?? (status === 'warning' && WARNED.includes(check) ? failed : passed)
  if (isSandboxNote(finding)) return <p>{words.sandboxIssuer}</p>
  return (
    <div>
      <p>
        <span class="only-heard">{words.outcomesOfCheck[status]}: </span>
        {sentence}
      </p>
      {detail && !against && (
        <p class="hint">
          <Detail text={detail} />
        </p>
      )}
    </div>
  )
}

type CrossedProps = { finding: Finding; error: string | undefined; isConsequence: boolean }

function Crossed({ finding: { check, detail }, error, isConsequence }: CrossedProps) {
  const words = useVerificationWords()
  const { failed } = useCheck(check)
  const possible: readonly string[] = FAILURES[check as Check] ?? []
  const own = useOutcome(possible.find(code => code === error) ?? possible[0] ?? error ?? '')
  const { meaning, remedy } = isConsequence ? words.consequence : own
  return (
    <details open>
      <summary>
        <span class="only-heard">{words.outcomesOfCheck.fail}: </span>
        {failed}
      </summary>
      {detail && (
        <p class="hint">
          <Detail text={detail} />
        </p>
      )}
      <dl>
        <dt class="small">{words.means}</dt>
        <dd>{meaning}</dd>
        <dt class="small">{words.remedy}</dt>
        <dd>{remedy}</dd>
      </dl>
    </details>
  )
}
