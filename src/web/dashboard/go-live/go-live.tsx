import { useState } from 'preact/hooks'
import type { GoLive as Path, Step } from '../../../dashboard/go-live/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { Notice } from '../../kit/notice.tsx'
import { Seal } from '../../kit/seal.tsx'
import { useData } from '../data.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { ForEditors, useMayChange, usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { ChooseDocuments } from './documents.tsx'
import { Purposes } from './purposes.tsx'
import { RetentionChoice } from './retention.tsx'
import { Commands, GoLiveStep, UnneededStep } from './step.tsx'
import { useGoLiveWords } from './words.ts'

const isOpen = ({ state }: Step): boolean => state === 'to_do' || state === 'problem'
const isNeeded = ({ state }: Step): boolean => state !== 'not_needed'

/** The way to the first live verification. */
export function GoLive() {
  const words = useGoLiveWords()
  const { renew } = useSession()
  const { inTenant } = usePlace()
  const data = useData<Path>(inTenant('go-live'))
  return (
    <Page title={words.title} intro={words.intro}>
      <Loaded data={data}>
        {path => (
          <div class="stack loose go-live">
            <Documents path={path} onChosen={data.set} />
            {path.steps.length > 0 && <Steps path={path} onChange={() => void renew().then(data.reload)} />}
          </div>
        )}
      </Loaded>
    </Page>
  )
}

function Documents({ path, onChosen }: { path: Path; onChosen: (path: Path) => void }) {
  const words = useGoLiveWords()
  const { problems } = useDashboardWords()
  const mayChange = useMayChange()
  const [isChanging, setIsChanging] = useState(false)
  if (path.documents.length === 0 && !mayChange) return <Notice tone="neutral">{problems.viewer_refused}</Notice>
  if (path.documents.length === 0 || isChanging) {
    return (
      <ChooseDocuments
        chosen={path.documents}
        onCancel={isChanging ? () => setIsChanging(false) : undefined}
        onChosen={next => {
          setIsChanging(false)
          onChosen(next)
        }}
      />
    )
  }
  return (
    <Card>
      <div class="section-header row between">
        <div>
          <p class="secondary">{words.accepts}</p>
          <p class="accepted large">{path.documents.map(kind => words.documents[kind].title).join(' · ')}</p>
        </div>
        <ForEditors>
          <Button onClick={() => setIsChanging(true)}>{words.change}</Button>
        </ForEditors>
      </div>
    </Card>
  )
}

function Steps({ path: { documents, steps, purposes, is_done }, onChange }: { path: Path; onChange: () => void }) {
  const words = useGoLiveWords()
  const needed = steps.filter(isNeeded)
  const done = needed.filter(({ state }) => state === 'done').length
  const next = steps.find(isOpen)
  return (
    <>
      {is_done ? (
        <Notice tone="ok">{words.allDone}</Notice>
      ) : (
        <div class="line middle" role="status">
          <Seal state="waiting" size={48} left={done / needed.length} />
          <p>
            <strong>{words.progress(done, needed.length)}</strong>
          </p>
        </div>
      )}
      <ol class="steps grid" aria-label={words.stepsLabel}>
        {needed.map(step => (
          <GoLiveStep key={step.step} step={step} documents={documents} isNext={step === next}>
            {step.step === 'registration' && purposes.length > 0 && <Purposes purposes={purposes} />}
            {step.step === 'retention' && step.state !== 'done' && <RetentionChoice onChosen={onChange} />}
          </GoLiveStep>
        ))}
      </ol>
      {needed.length < steps.length && (
        <section class="stack tight">
          <h2 class="large secondary">{words.states.not_needed}</h2>
          <ul class="plain-list">
            {steps
              .filter(step => !isNeeded(step))
              .map(step => (
                <UnneededStep key={step.step} step={step} />
              ))}
          </ul>
        </section>
      )}
      <Commands steps={steps} />
    </>
  )
}
