import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { FirstSteps as Steps } from '../../../dashboard/overview/schema.ts'
import { Icon } from '../../kit/icons.tsx'
import { ButtonTo, hrefTo } from '../route.tsx'
import { usePlace } from '../session.tsx'
import { TryIt } from '../verifications/try-it.tsx'
import { useOverviewWords } from './words.ts'

/** First steps of a new shop; the service knows which are done. Of a till and the API one is enough. */
export function FirstSteps({ steps: { tried, paired, called, received } }: { steps: Steps }) {
  const words = useOverviewWords().firstSteps
  const { environment } = usePlace()
  const id = useId()
  return (
    <section class="card stack" aria-labelledby={id}>
      <h2 id={id}>{words.title}</h2>
      <ol class="first-steps">
        <Step words={words.tried} isDone={tried}>
          {environment === 'test' ? (
            <TryIt />
          ) : (
            <ButtonTo href={hrefTo('', { environment: 'test' })}>{words.tried.action}</ButtonTo>
          )}
        </Step>
        {(paired || !called) && (
          <Step words={words.paired} isDone={paired}>
            <ButtonTo href={hrefTo('tills')}>{words.paired.action}</ButtonTo>
          </Step>
        )}
        {(called || !paired) && (
          <Step words={words.called} isDone={called}>
            <ButtonTo href={hrefTo('keys')}>{words.called.action}</ButtonTo>
          </Step>
        )}
        <Step words={words.received} isDone={received}>
          <ButtonTo href={hrefTo('webhooks')}>{words.received.action}</ButtonTo>
        </Step>
        <Step words={words.live} isDone={false}>
          <ButtonTo href={hrefTo('go-live')}>{words.live.action}</ButtonTo>
        </Step>
      </ol>
    </section>
  )
}

type StepProps = { words: { title: string; more: string }; isDone: boolean; children: ComponentChildren }

function Step({ words: { title, more }, isDone, children }: StepProps) {
  const { done } = useOverviewWords().firstSteps
  return (
    <li class={isDone ? 'done' : undefined}>
      <span class="mark">{isDone && <Icon name="tick" size={16} />}</span>
      <div>
        <p class="title large">
          {title}
          {isDone && <span class="only-heard"> ({done})</span>}
        </p>
        {!isDone && <p class="secondary">{more}</p>}
      </div>
      {!isDone && <div class="row">{children}</div>}
    </li>
  )
}
