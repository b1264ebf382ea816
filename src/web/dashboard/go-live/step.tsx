import type { ComponentChildren } from 'preact'
import type { Step, StepName } from '../../../dashboard/go-live/schema.ts'
import { Badge } from '../../kit/badge.tsx'
import { Copy } from '../../kit/copy.tsx'
import { serviceUrl } from '../../shared/base.ts'
import { say } from '../../shared/findings/say.ts'
import { useFindings } from '../../shared/findings/words.ts'
import { useCommon, useRegion } from '../../shared/language.ts'
import { useFormat } from '../format.ts'
import { ButtonTo, hrefTo, Link } from '../route.tsx'
import { useSession } from '../session.tsx'
import { HELP } from './help.ts'
import { useGoLiveWords } from './words.ts'

const LOOK = {
  done: { tone: 'ok', icon: 'tick' },
  to_do: { tone: 'neutral', icon: 'next' },
  waiting: { tone: 'wait', icon: 'clock' },
  not_needed: { tone: 'neutral', icon: 'dash' },
  problem: { tone: 'no', icon: 'cross' },
} as const

type Where = { place: string; environment?: 'test' | 'live'; isForOwners?: true }

/** The page of the dashboard where a step is done. */
const WHERE: Readonly<Record<StepName, Where>> = {
  address: { place: 'settings/health', isForOwners: true },
  identity: { place: 'settings/installation', isForOwners: true },
  registration: { place: 'settings/installation', isForOwners: true },
  issuers_test: { place: 'trust', environment: 'test' },
  first_test: { place: '', environment: 'test' },
  issuers_live: { place: 'trust', environment: 'live' },
  eu_profile: { place: 'settings/health', isForOwners: true },
  keys: { place: 'keys', environment: 'live' },
  first_live: { place: 'verifications', environment: 'live' },
  renewals: { place: 'settings/health', isForOwners: true },
}

export function GoLiveStep({ step, isNext, children }: { step: Step; isNext: boolean; children?: ComponentChildren }) {
  const words = useGoLiveWords()
  const sentence = useSentence(step)
  const { state, finding } = step
  return (
    <li class={`card grid breaks ${state}${isNext ? ' next' : ''}`} aria-current={isNext ? 'step' : undefined}>
      <header class="row between">
        <h2 class="large">{words.steps[step.step].title}</h2>
        <Badge {...LOOK[state]}>{words.states[state]}</Badge>
      </header>
      <p class={state === 'not_needed' ? 'secondary' : undefined}>{sentence}</p>
      {finding && <Finding finding={finding} isDone={state === 'done'} />}
      {children}
      {state !== 'not_needed' && <Act step={step} isNext={isNext} />}
    </li>
  )
}

/** What is done needs no remedy. */
function Finding({ finding, isDone }: { finding: NonNullable<Step['finding']>; isDone: boolean }) {
  const { detail, remedy } = say(useFindings(), finding)
  return <p class="secondary">{isDone || remedy === undefined ? detail : `${detail} ${remedy}`}</p>
}

function useSentence({ reason, documents, names, at }: Step): string {
  const words = useGoLiveWords()
  const { date } = useFormat()
  const list = new Intl.ListFormat(useRegion(), { type: 'conjunction' })
  return words.reasons[reason]({
    documents: list.format(documents.map(kind => words.documents[kind].title)),
    names: list.format(names),
    when: at === null ? '' : date(at),
  })
}

function Act({ step: { step, state, command }, isNext }: { step: Step; isNext: boolean }) {
  const words = useGoLiveWords()
  const common = useCommon()
  const { session } = useSession()
  const { place, environment, isForOwners } = WHERE[step]
  const href = hrefTo(place, environment && { environment })
  const { action, done } = words.steps[step]
  const mayOpen = session.user.is_owner || !isForOwners
  if (state === 'done') return mayOpen ? <Link href={href}>{done}</Link> : null
  return (
    <>
      {!mayOpen && <p class="hint">{words.owner}</p>}
      {mayOpen && (
        <div>
          <ButtonTo kind={isNext ? 'primary' : undefined} href={href}>
            {action}
          </ButtonTo>
        </div>
      )}
      {command !== null && (
        <details class="folded">
          <summary>{common.orByCommand}</summary>
          <div class="stack tight">
            <Copy text={command} label={common.command} />
            <p class="hint">
              <a href={serviceUrl(`docs/${HELP[step]}`)}>{words.help}</a>
            </p>
          </div>
        </details>
      )}
    </>
  )
}
