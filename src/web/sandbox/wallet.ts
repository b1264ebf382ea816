import { useRef, useState } from 'preact/hooks'
import type { PersonaId } from '../../sandbox/personas.ts'
import { useDocuments } from './issued.ts'
import { CannotOpen, type OpenedRequest, openRequest, type Problem, problemOf } from './open-request.ts'
import { type Sent, sendAnswer } from './send-answer.ts'

export type Stage =
  | { name: 'home' }
  | { name: 'opening' }
  | { name: 'asked' | 'sending'; asked: OpenedRequest }
  | { name: 'done'; asked: OpenedRequest; sent: Sent }
  | { name: 'in_person' }
  | { name: 'stopped'; problem: Problem }

export type Wallet = ReturnType<typeof useWallet>

/** The wallet of the page: its documents and its current request. */
export function useWallet(first: PersonaId) {
  const [stage, setStage] = useState<Stage>({ name: 'home' })
  /** The last opened request, and its result. */
  const [happened, setHappened] = useState<{ asked: OpenedRequest; sent?: Sent }>()
  const documents = useDocuments(first, problem => setStage({ name: 'stopped', problem }))
  const { persona, holder } = documents
  // Ignored once a newer request is open.
  const turn = useRef(0)

  const attempt = async (work: (isCurrent: () => boolean) => Promise<void>) => {
    const own = ++turn.current
    const isCurrent = () => own === turn.current
    try {
      await work(isCurrent)
    } catch (error) {
      const problem = error instanceof CannotOpen ? error.problem : { kind: problemOf(error) }
      if (isCurrent()) setStage({ name: 'stopped', problem })
    }
  }

  const choose = (id: PersonaId) => {
    documents.choose(id)
    setStage(before => (before.name === 'asked' || before.name === 'in_person' ? before : { name: 'home' }))
  }

  const open = (walletUri: string) =>
    attempt(async isCurrent => {
      setStage({ name: 'opening' })
      const { service } = await documents.current()
      const asked = await openRequest(walletUri.trim(), service)
      if (!isCurrent()) return
      setStage({ name: 'asked', asked })
      setHappened({ asked })
    })

  const finish = (isShared: boolean) =>
    attempt(async isCurrent => {
      if (stage.name !== 'asked') return
      const { asked } = stage
      setStage({ name: 'sending', asked })
      const sent = await sendAnswer(asked, { ...(await documents.current()), isShared })
      if (!isCurrent()) return
      setStage({ name: 'done', asked, sent })
      setHappened({ asked, sent })
    })

  return {
    persona,
    holder,
    documents,
    stage,
    happened,
    choose,
    open,
    share: () => finish(true),
    decline: () => finish(false),
    showInPerson: () => {
      turn.current++
      setStage({ name: 'in_person' })
    },
    goHome: () => {
      turn.current++
      setStage({ name: 'home' })
      if (!holder) choose(persona)
    },
  }
}
