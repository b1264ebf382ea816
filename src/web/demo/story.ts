// The state of the story, from real parts: the till's memory, the session, the received webhook.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { DemoAudit, DemoData, DemoMoment, DemoSession } from '../../demo/schema.ts'
import type { PersonaId } from '../../sandbox/personas.ts'
import type { ErasureResult } from '../../verifications/schema.ts'
import { callApi } from '../shared/api.ts'
import { changeCheck, startCheck } from '../till/check/check.ts'
import { type Check, read, useKept } from '../till/memory.ts'
import { answerElsewhere, createSession } from './online.ts'
import { pairTill, useIsPaired } from './pairing.ts'
import { useSession } from './session.ts'
import { useDemoWords } from './words.ts'

const TEMPLATE = 'age_over_18'
export const CHEATS = [
  'replay',
  'expired',
  'untrusted_issuer',
  'revoked',
  'tampered_claim',
  'minor',
  'elsewhere',
  'recorded',
] as const
export type Cheat = (typeof CHEATS)[number]
type Caught = Partial<Record<Cheat, string>>

export type Step = 'begin' | 'ask' | 'scan' | 'share' | 'shopping' | 'webhook' | 'erase' | 'cheat' | 'show' | 'cheating' | 'done'

export type Erased = ErasureResult & { audit: DemoAudit }

export type Story = ReturnType<typeof useStory>

type Phone = {
  /** Gives a request to the phone; if hurried, the phone answers by itself. */
  hand: (walletUri: string, persona: PersonaId, isHurried: boolean) => void
  /** The online shop has asked it. */
  isAsked: boolean
  /** Makes it show a code. */
  show: (persona: PersonaId, isHurried: boolean) => void
  code: string | undefined
  /** Lets the till scan the code. */
  scanCode: (code: string) => void
}

export function useStory({ hand, isAsked, show, code, scanCode }: Phone) {
  const words = useDemoWords()
  const [data, setData] = useState<DemoData>()
  const [problem, setProblem] = useState<unknown>()
  const [erased, setErased] = useState<Erased>()
  /** The end of each attempt. */
  const [caught, setCaught] = useState<Caught>({})
  const [attempt, setAttempt] = useState<{ cheat: Cheat; checkKey?: string }>()
  /** The session of the online shop. */
  const [online, setOnline] = useState<string>()
  const [isOnline, setIsOnline] = useState(false)
  const handed = useRef('')
  /** The check in which the phone shows a code, and whether that is held to the till. */
  const [counter, setCounter] = useState<{ checkKey: string; isHeld: boolean }>()
  const isPaired = useIsPaired(data)
  const check = useKept('check')
  const last = useLast(check)
  const session = useSession(isOnline ? online : last?.id)
  const { verification } = session ?? {}

  const attempted = <Result>(work: Promise<Result>, then: (result: Result) => void) => void work.then(then, setProblem)

  useEffect(() => {
    attempted(begin(words.till.name), setData)
  }, [])

  // Shows the check that was begun last.
  useEffect(() => setIsOnline(false), [check?.key])

  const goOnline = (id: string) => {
    // A verdict that is still on the till belongs to the part of the story before.
    if (check?.shownAt !== undefined) changeCheck(check, { isPutAway: true })
    setOnline(id)
    setIsOnline(true)
  }

  const beElsewhere = async ({ key }: DemoData) => {
    setAttempt({ cheat: 'elsewhere' })
    try {
      const id = await createSession(key, TEMPLATE)
      await answerElsewhere(id)
      goOnline(id)
      const { error, status } = (await callApi<DemoSession>(`demo/sessions/${id}`)).verification
      setCaught(before => ({ ...before, elsewhere: error?.code ?? status }))
    } finally {
      setAttempt(undefined)
    }
  }

  const isAtCounter = check !== undefined && check.key === counter?.checkKey
  const isRead = hasMoment(session, 'in_person_requested')

  /** The phone shows a code for a new check. */
  const meet = (persona: PersonaId, isHurried: boolean): string => {
    startCheck(TEMPLATE)
    const checkKey = read('check')?.key ?? ''
    setCounter({ checkKey, isHeld: isHurried })
    show(persona, isHurried)
    return checkKey
  }

  useEffect(() => {
    // Again with each look at the session: the till may not have been ready.
    const isReady = isAtCounter && counter?.isHeld && verification?.id === check?.id && verification?.status === 'pending'
    if (isReady && !isRead && code !== undefined) scanCode(code)
  }, [session, code, counter])

  const scan = () => {
    if (verification?.wallet_uri) hand(verification.wallet_uri, 'adult', false)
  }

  useEffect(() => {
    if (
      !attempt?.checkKey ||
      attempt.cheat === 'elsewhere' ||
      check?.key !== attempt.checkKey ||
      verification === undefined ||
      verification.id !== check.id
    )
      return
    const { id, status, wallet_uri, error } = verification
    if (status === 'pending' && wallet_uri && handed.current !== id && attempt.cheat !== 'recorded') {
      handed.current = id
      hand(wallet_uri, attempt.cheat, true)
    }
    if (status === 'pending') return
    setCaught(before => ({ ...before, [attempt.cheat]: error?.code ?? status }))
    setAttempt(undefined)
  }, [attempt, check?.id, verification?.status])

  return {
    step: stepOf({
      isPaired,
      session,
      hasErased: erased !== undefined,
      isCheating: attempt !== undefined,
      isOnline,
      isAsked,
      isAtCounter,
      caught,
    }),
    data,
    session: session?.verification.id === erased?.id ? undefined : session,
    erased: session === undefined || session.verification.id === erased?.id ? erased : undefined,
    online: online === erased?.id ? undefined : online,
    caught,
    cheating: attempt?.cheat,
    problem,
    ask: () => startCheck(TEMPLATE),
    scan,
    buy: () => data && attempted(createSession(data.key, TEMPLATE), goOnline),
    erase: () => data && verification && attempted(eraseWith(data.key, verification.id), setErased),
    cheat(cheat: Cheat) {
      if (cheat === 'elsewhere') return void (data && attempted(beElsewhere(data), () => {}))
      if (cheat === 'recorded') return setAttempt({ cheat, checkKey: meet('replay', true) })
      startCheck(TEMPLATE)
      setAttempt({ cheat, checkKey: read('check')?.key ?? '' })
    },
    show: () => void meet('adult', false),
    /** Holds its code to the till. */
    hold: () => counter && setCounter({ ...counter, isHeld: true }),
  }
}

async function begin(tillName: string): Promise<DemoData> {
  const data = await callApi<DemoData>('demo/data')
  await pairTill(data, tillName)
  return data
}

/** The till forgets a check that it stopped; the back office keeps it. */
function useLast(check: Check | undefined): Check | undefined {
  const last = useRef<Check>(undefined)
  if (check?.id !== undefined) last.current = check
  return check ?? last.current
}

async function eraseWith(key: string, id: string): Promise<Erased> {
  const headers = { authorization: `Bearer ${key}` }
  const result = await callApi<ErasureResult>(`v1/verifications/${id}`, { method: 'DELETE', headers })
  return { ...result, audit: await callApi<DemoAudit>('demo/audit') }
}

const hasMoment = (session: DemoSession | undefined, wanted: DemoMoment['event']): boolean =>
  session?.moments.some(({ event }) => event === wanted) ?? false

type Standing = Record<'isPaired' | 'hasErased' | 'isCheating' | 'isOnline' | 'isAsked' | 'isAtCounter', boolean> & {
  session: DemoSession | undefined
  caught: Caught
}

function stepOf({ isPaired, session, hasErased, isCheating, isOnline, isAsked, isAtCounter, caught }: Standing): Step {
  if (!isPaired) return 'begin'
  if (isCheating) return 'cheating'
  const status = session?.verification.status
  if (isOnline && (status === 'pending' || status === undefined)) return isAsked ? 'share' : 'shopping'
  if (isAtCounter && (status === 'pending' || status === undefined))
    return hasMoment(session, 'in_person_requested') ? 'share' : 'show'
  if (status === 'pending') return hasMoment(session, 'request_fetched') ? 'share' : 'scan'
  if (Object.keys(caught).length === CHEATS.length) return 'done'
  if (hasErased) return 'cheat'
  if (status === undefined || status === 'expired') return 'ask'
  return session?.webhook ? 'erase' : 'webhook'
}
