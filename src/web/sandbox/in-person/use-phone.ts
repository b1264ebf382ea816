import { useEffect, useState } from 'preact/hooks'
import { createPhone, type EngagementOptions, type InPersonRequest, readStatus, refusalOf } from '../../../sandbox/phone/phone.ts'
import { RequestRefused } from '../../../sandbox/wallet/wallet.ts'
import type { Documents } from '../issued.ts'
import type { Problem } from '../open-request.ts'
import { serveTill } from './radio.ts'

export type Choices = Required<Pick<EngagementOptions, 'version' | 'mode'>> & { mtu: number }

export type Stage =
  | { name: 'preparing' }
  | { name: 'showing'; code: string }
  | { name: 'asked'; request: InPersonRequest; settle: (isShared: boolean) => void }
  | { name: 'answering' | 'done'; request: InPersonRequest; isShared: boolean }
  | { name: 'stopped'; problem: Problem }

/** A phone that shows a code, until it was read. Other choices make another code, and so does a till that goes away. */
export function usePhone(choices: Choices, { current }: Documents): Stage {
  const [stage, setStage] = useState<Stage>({ name: 'preparing' })
  const [round, setRound] = useState(0)
  useEffect(() => {
    let isOver = false
    let isAsked = false
    let switchOff: (() => void) | undefined
    const show = (next: Stage) => {
      isAsked = next.name === 'asked'
      if (!isOver) setStage(next)
    }
    const onEnd = () => {
      if (!isAsked) return
      show({ name: 'preparing' })
      setRound(before => before + 1)
    }

    const start = async () => {
      const { code, service, open } = await createPhone(choices)
      if (isOver) return
      show({ name: 'showing', code })
      // The demo hands it to the till beside it.
      if (parent !== window) parent.postMessage({ type: 'vidimus-code', code }, location.origin)
      const onMessage = async (message: Uint8Array) => {
        if (readStatus(message) !== undefined) return undefined
        try {
          const request = await open(message)
          const isShared = await new Promise<boolean>(settle => show({ name: 'asked', request, settle }))
          show({ name: 'answering', request, isShared })
          const answer = isShared ? await request.answer((await current()).holder) : request.decline()
          show({ name: 'done', request, isShared })
          return answer
        } catch (error) {
          if (!(error instanceof RequestRefused)) throw error
          show({ name: 'stopped', problem: { kind: 'distrusted', detail: error.message } })
          return refusalOf(error)
        }
      }
      if (service) switchOff = serveTill(service, { mtu: choices.mtu, onMessage, onEnd })
    }
    start()
    return () => {
      isOver = true
      switchOff?.()
    }
  }, [choices, round])
  return stage
}
