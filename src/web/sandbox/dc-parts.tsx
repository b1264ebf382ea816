import { useEffect, useState } from 'preact/hooks'
import type { PersonaId } from '../../sandbox/personas.ts'
import type { PageRequest } from '../../sandbox/wallet/dc-wallet.ts'
import { Consent } from './consent.tsx'
import { type Asking, listenToOpener, openAsking } from './dc.ts'
import { Documents } from './documents.tsx'
import { Opening, Stopped } from './ended.tsx'
import { Json, Row, Step, Steps } from './happened.tsx'
import { type Documents as Issued, useDocuments } from './issued.ts'
import { CannotOpen, now, type Problem, problemOf } from './open-request.ts'
import { Personas } from './personas.tsx'
import { Screen } from './phone.tsx'
import { useSandboxWords } from './words.ts'

type Stage =
  | { name: 'waiting' }
  | { name: 'asked' | 'answering'; asking: Asking; request: PageRequest }
  | { name: 'stopped'; problem: Problem }

/** The parts of the page when it stands for the wallet of a browser. */
export function DcParts({ first }: { first: PersonaId }) {
  const [stage, setStage] = useState<Stage>({ name: 'waiting' })
  const documents = useDocuments(first, problem => setStage({ name: 'stopped', problem }))
  useEffect(() => {
    // The demo shows the wallet in a frame.
    const opener = window.opener ?? (parent === window ? undefined : parent)
    if (!opener) return setStage({ name: 'stopped', problem: { kind: 'unasked' } })
    return listenToOpener(opener, async asking => {
      try {
        const request = await openAsking(asking, (await documents.current()).service)
        setStage({ name: 'asked', asking, request })
      } catch (error) {
        setStage({ name: 'stopped', problem: error instanceof CannotOpen ? error.problem : { kind: problemOf(error) } })
      }
    })
  }, [])
  return (
    <>
      <Personas chosen={documents.persona} onChoose={documents.choose} />
      <Screen
        home={<Documents holder={documents.holder} />}
        sheet={<Sheet key={stage.name} stage={stage} documents={documents} onStage={setStage} />}
      />
      <Asked stage={stage} />
    </>
  )
}

type SheetProps = { stage: Stage; documents: Issued; onStage: (stage: Stage) => void }

function Sheet({ stage, documents: { holder, current }, onStage }: SheetProps) {
  const words = useSandboxWords()
  if (stage.name === 'waiting') return <Opening />
  if (stage.name === 'stopped') {
    return (
      <Stopped problem={stage.problem} onClose={() => close()}>
        {words.closeWindow}
      </Stopped>
    )
  }
  const { asking, request } = stage
  // The page closes this window when it has the message: one that is closed sooner looks like a refusal.
  const share = async () => {
    onStage({ ...stage, name: 'answering' })
    const { holder, service } = await current()
    asking.reply({ type: 'vidimus-answer', ...(await request.answer(holder, { now: now(service) })) })
  }
  return (
    <Consent
      who={asking.origin}
      holder={holder}
      selected={holder && request.select(holder.credentials)}
      isSending={stage.name === 'answering'}
      onShare={share}
      onDecline={() => asking.reply({ type: 'vidimus-declined' })}
    />
  )
}

function Asked({ stage }: { stage: Stage }) {
  const words = useSandboxWords()
  return (
    <Steps>
      {'asking' in stage && (
        <Step title={words.requested}>
          <dl>
            <Row name={words.origin} value={stage.asking.origin} />
            <Row name={words.protocol} value={stage.request.protocol} />
          </dl>
          <p class="secondary">{words.fromBrowser}</p>
          <Json title={words.wholeRequest} value={stage.asking.requests} />
        </Step>
      )}
    </Steps>
  )
}
