import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, canAsk, type DcAnswer, fetchRequests, type Prepared, prefetch, Refused, send } from '../../sdk/wallet-call.ts'
import type { HostedVerification } from '../../verifications/schema.ts'
import { askSandbox } from './ask-sandbox.ts'
import { BASE } from './base.ts'

const PREFETCH_MS = 5000

/** The reason why the last call shared nothing. */
type DigitalNote = 'cancelled' | 'declined' | 'wallet_error' | 'unreadable' | 'not_delivered'

export type Digital = ReturnType<typeof useDigital>

/** The wallet call of the browser, prepared while the session is open and aborted when it ends. */
export function useDigital(id: string, known: HostedVerification | undefined, aheadMs: number) {
  const isOpen = known?.wallet_uri !== undefined
  /** `preparing`: it is not known yet whether this browser can ask for this session. */
  const [offer, setOffer] = useState<'none' | 'preparing' | 'made'>('none')
  const [step, setStep] = useState<'idle' | 'asking' | 'checking'>('idle')
  const [note, setNote] = useState<DigitalNote>()
  /** The address that the answer of this page leads to. */
  const [redirectUri, setRedirectUri] = useState<string>()
  const prepared = useRef<Prepared | undefined>(undefined)
  const call = useRef<AbortController | undefined>(undefined)

  useEffect(() => {
    if (!known || !isOpen) return
    const loading = new AbortController()
    const endCall = () => call.current?.abort()
    const timers = [
      setTimeout(endCall, Date.parse(known.expires_at) - aheadMs - Date.now()),
      setTimeout(() => loading.abort(), PREFETCH_MS),
    ]
    if (canAsk()) {
      setOffer('preparing')
      prefetch(BASE.href, id, loading.signal).then(found => {
        prepared.current = found
        setOffer(found ? 'made' : 'none')
      })
    }
    return () => {
      timers.forEach(clearTimeout)
      loading.abort()
      endCall()
    }
  }, [id, isOpen])

  const run = async (answerOf: (signal: AbortSignal) => Promise<DcAnswer>) => {
    const own = new AbortController()
    const { signal } = own
    call.current = own
    setNote(undefined)
    setStep('asking')
    try {
      const answer = await answerOf(signal).catch(() => undefined)
      // Browsers do not say whether a person cancelled, has no wallet, or was refused.
      if (!answer) return void (signal.aborted || setNote('cancelled'))
      setStep('checking')
      const { redirect_uri, wallet_error } = await send(BASE.href, id, answer)
      if (wallet_error !== undefined) setNote(wallet_error === 'access_denied' ? 'declined' : 'wallet_error')
      else setRedirectUri(redirect_uri)
    } catch (error) {
      setNote(noteOf(error))
    } finally {
      setStep('idle')
    }
  }

  return {
    offer,
    step,
    note,
    redirectUri,
    askWallet: () => prepared.current && run(signal => ask(prepared.current!, signal)),
    askSandbox: () => run(signal => askSandbox(BASE.href, fetchRequests(BASE.href, id), signal)),
  }
}

/** The note about an answer that was refused. */
function noteOf(error: unknown): DigitalNote | undefined {
  if (!(error instanceof Refused)) return 'not_delivered'
  // Answered, expired or erased: the page shows that by itself.
  if ([404, 409, 410].includes(error.status)) return undefined
  return error.status === 400 ? 'unreadable' : 'not_delivered'
}
