import { useEffect, useRef, useState } from 'preact/hooks'
import type { PersonaId } from '../../sandbox/personas.ts'
import type { IssuedDocuments } from '../../sandbox/schema.ts'
import { type Holder, newPrivateJwk, publicJwk } from '../../sandbox/wallet/wallet.ts'
import { callApi } from '../shared/api.ts'
import { type Problem, problemOf, type Service } from './open-request.ts'

type Issued = { holder: Holder; service: Service }

export type Documents = ReturnType<typeof useDocuments>

/** The chosen persona, and the documents that are issued to each once. */
export function useDocuments(first: PersonaId, onProblem: (problem: Problem) => void) {
  const [persona, setPersona] = useState(first)
  /** Undefined while the documents are being issued. */
  const [holder, setHolder] = useState<Holder>()
  const issued = useRef(new Map<PersonaId, Promise<Issued>>())
  const chosen = useRef(first)

  const documentsOf = (id: PersonaId): Promise<Issued> => {
    const known = issued.current.get(id) ?? issue(id)
    issued.current.set(id, known)
    known.catch(() => issued.current.delete(id))
    return known
  }

  const choose = (id: PersonaId) => {
    chosen.current = id
    setPersona(id)
    setHolder(undefined)
    documentsOf(id).then(
      documents => id === chosen.current && setHolder(documents.holder),
      error => id === chosen.current && onProblem({ kind: problemOf(error) }),
    )
  }

  useEffect(() => choose(first), [])

  /** The documents of the chosen persona. */
  const current = () => documentsOf(chosen.current)
  return { persona, holder, choose, current }
}

export async function issue(persona: PersonaId): Promise<Issued> {
  const deviceKey = await newPrivateJwk()
  const body = { persona, holder_key: publicJwk(deviceKey) }
  const { credentials, public_url, now } = await callApi<IssuedDocuments>('sandbox/documents', { method: 'POST', body })
  return {
    holder: { persona, deviceKey, credentials },
    service: { publicUrl: public_url, aheadMs: Date.parse(now) - Date.now() },
  }
}
