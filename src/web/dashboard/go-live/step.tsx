import type { ComponentChildren } from 'preact'
import type { Step, StepName } from '../../../dashboard/go-live/schema.ts'
import type { DocumentKind } from '../../../tenants/go-live.ts'
import { Badge } from '../../kit/badge.tsx'
import { Copy } from '../../kit/copy.tsx'
import { serviceUrl } from '../../shared/base.ts'
import { say } from '../../shared/findings/say.ts'
import { useFindings } from '../../shared/findings/words.ts'
import { useCommon, useRegion } from '../../shared/language.ts'
import { useFormat } from '../format.ts'
import { ButtonTo, hrefTo } from '../route.tsx'
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

type Where = { place: string; search?: Record<string, string>; isForOwners?: true }

/** Where a step is done: the page, and the dialog that it opens. */
const whereOf = ({ step, state, preset }: Step): Where | undefined => {
  switch (step) {
    case 'address':
    case 'eu_profile':
    case 'renewals':
      return { place: 'settings/health', isForOwners: true }
    case 'identity':
      return { place: 'settings/installation', isForOwners: true }
    case 'registration':
      return { place: 'settings/installation', search: { open: 'registration' }, isForOwners: true }
    case 'issuers_test':
      return { place: 'trust', search: { environment: 'test', open: preset ?? 'issuer' }, isForOwners: true }
    case 'issuers_live':
      return { place: 'trust', search: { environment: 'live', open: preset ?? 'issuer' }, isForOwners: true }
    case 'first_test':
      return { place: '', search: { environment: 'test' } }
    case 'keys':
      return { place: 'keys', search: { environment: 'live', open: 'create' } }
    case 'first_live':
      return { place: 'verifications', search: { environment: 'live' } }
    case 'retention':
      return state === 'done' ? { place: 'settings' } : undefined
  }
}

type Props = { step: Step; documents: readonly DocumentKind[]; isNext: boolean; children?: ComponentChildren }

/** The step to take is open; the others are lines that unfold. */
export function GoLiveStep({ step, documents, isNext, children }: Props) {
  const words = useGoLiveWords()
  const sentence = useSentence(step)
  const { state, finding } = step
  return (
    <li class={`card ${state}${isNext ? ' next' : ''}`} aria-current={isNext ? 'step' : undefined}>
      <details open={isNext}>
        <summary>
          <h2 class="large">{words.steps[step.step].title}</h2>
          <Badge {...LOOK[state]}>{words.states[state]}</Badge>
        </summary>
        <div class="stack breaks">
          <p>{sentence}</p>
          {finding && <Finding finding={finding} isDone={state === 'done'} />}
          {state !== 'done' && <Authorities step={step.step} documents={documents} />}
          {children}
          <Act step={step} isNext={isNext} />
        </div>
      </details>
    </li>
  )
}

/** A step that this shop does not need. */
export function UnneededStep({ step }: { step: Step }) {
  const words = useGoLiveWords()
  const sentence = useSentence(step)
  return (
    <li class="secondary">
      {words.steps[step.step].title}: {sentence}
    </li>
  )
}

/** Who issues what is needed, and where to apply. */
function Authorities({ step, documents }: { step: StepName; documents: readonly DocumentKind[] }) {
  const { authorities, documents: names, authoritiesRead } = useGoLiveWords()
  const known = documents.flatMap(kind => {
    const { text, link } = authorities[step]?.[kind] ?? {}
    return text ? [{ kind, text, link }] : []
  })
  if (known.length === 0) return null
  return (
    <>
      <dl class="facts">
        {known.map(({ kind, text, link }) => (
          <div key={kind}>
            <dt>{names[kind].title}</dt>
            <dd>
              {text}{' '}
              {link && (
                <a href={link} rel="noopener">
                  {URL.parse(link)?.host}
                </a>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <p class="hint">{authoritiesRead}</p>
    </>
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

function Act({ step, isNext }: Pick<Props, 'step' | 'isNext'>) {
  const words = useGoLiveWords()
  const { session } = useSession()
  const where = whereOf(step)
  const mayOpen = session.user.is_owner || !where?.isForOwners
  const isDone = step.state === 'done'
  if (!mayOpen && isDone) return null
  return (
    <>
      {!mayOpen && <p class="hint">{words.owner}</p>}
      <div class="row middle">
        {where && mayOpen && (
          <ButtonTo
            kind={isNext ? 'primary' : undefined}
            href={hrefTo(where.place, { ...where.search, ...(isDone && { open: null }), back: 'go-live' })}
          >
            {words.steps[step.step][isDone ? 'done' : 'action']}
          </ButtonTo>
        )}
        <a href={serviceUrl(`docs/${HELP[step.step]}`)}>{words.help}</a>
      </div>
    </>
  )
}

/** What the buttons do, for those who would rather type. */
export function Commands({ steps }: { steps: readonly Step[] }) {
  const words = useGoLiveWords()
  const common = useCommon()
  const known = steps.flatMap(({ step, state, command }) => (command && state !== 'done' ? [{ step, command }] : []))
  if (known.length === 0) return null
  return (
    <details class="folded commands">
      <summary>{common.orByCommand}</summary>
      <div class="stack">
        {known.map(({ step, command }) => (
          <div key={step} class="stack tight">
            <h3>{words.steps[step].title}</h3>
            <Copy text={command} label={common.command} />
          </div>
        ))}
      </div>
    </details>
  )
}
