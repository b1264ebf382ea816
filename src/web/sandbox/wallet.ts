import { useEffect, useRef, useState } from 'preact/hooks'
import type { PersonaId } from '../../sandbox/personas.ts'
import type { IssuedDocuments } from '../../sandbox/schema.ts'
import { type Holder, newPrivateJwk, publicJwk } from '../../sandbox/wallet.ts'
import { callApi } from '../shared/api.ts'
import { type Asked, CannotOpen, openRequest, type Problem, problemOf, type Service } from './open-request.ts'
import { type Sent, sendAnswer } from './send-answer.ts'

export type Stage =
  | { name: 'home' }
  | { name: 'opening' }
  | { name: 'asked' | 'sending'; asked: Asked }
  | { name: 'done'; asked: Asked; sent: Sent }
  | { name: 'stopped'; problem: Problem }

export type Wallet = {
  persona: PersonaId
  /** Undefined while the documents are being issued. */
  holder: Holder | undefined
  stage: Stage
  /** The last opened request, and its result. */
  happened: { asked: Asked; sent?: Sent } | undefined
  choose: (persona: PersonaId) => void
  open: (walletUri: string) => void
  share: () => void
  decline: () => void
  goHome: () => void
}

type Issued = { holder: Holder; service: Service }

/** The wallet of the page: its documents and its current request. */
export function useWallet(first: PersonaId): Wallet {
  const [persona, setPersona] = useState(first)
  const [holder, setHolder] = useState<Holder>()
  const [stage, setStage] = useState<Stage>({ name: 'home' })
  const [happened, setHappened] = useState<Wallet['happened']>()
  const issued = useRef(new Map<PersonaId, Promise<Issued>>())
  const chosen = useRef(first)
  // Ignored once a newer request is open.
  const turn = useRef(0)

  const documentsOf = (id: PersonaId): Promise<Issued> => {
    const known = issued.current.get(id) ?? issue(id)
    issued.current.set(id, known)
    known.catch(() => issued.current.delete(id))
    return known
  }

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
    chosen.current = id
    setPersona(id)
    setHolder(undefined)
    setStage(before => (before.name === 'asked' ? before : { name: 'home' }))
    documentsOf(id).then(
      documents => id === chosen.current && setHolder(documents.holder),
      error => id === chosen.current && setStage({ name: 'stopped', problem: { kind: problemOf(error) } }),
    )
  }

  const open = (walletUri: string) =>
    attempt(async isCurrent => {
      setStage({ name: 'opening' })
      const { service } = await documentsOf(chosen.current)
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
      const documents = await documentsOf(chosen.current)
      const sent = await sendAnswer(asked, { ...documents, isShared })
      if (!isCurrent()) return
      setStage({ name: 'done', asked, sent })
      setHappened({ asked, sent })
    })

  useEffect(() => choose(first), [])

  return {
    persona,
    holder,
    stage,
    happened,
    choose,
    open,
    share: () => finish(true),
    decline: () => finish(false),
    goHome: () => {
      turn.current++
      setStage({ name: 'home' })
      if (!holder) choose(persona)
    },
  }
}

async function issue(persona: PersonaId): Promise<Issued> {
  const deviceKey = await newPrivateJwk()
  const body = { persona, holder_key: publicJwk(deviceKey) }
  const { credentials, public_url, now } = await callApi<IssuedDocuments>('sandbox/documents', { method: 'POST', body })
  return {
    holder: { persona, deviceKey, credentials },
    service: { publicUrl: public_url, aheadMs: Date.parse(now) - Date.now() },
  }
}
