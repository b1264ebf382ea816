import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import '../verify/element.ts'
import type { Prepared } from '../../sdk/wallet-call.ts'
import { askWindow } from '../shared/ask-sandbox.ts'
import { serviceUrl } from '../shared/base.ts'

/** The code that the phone shows to be read in person, until it is forgotten. */
export function useShownCode(phone: RefObject<HTMLIFrameElement | null>): [code: string | undefined, forget: () => void] {
  const [code, setCode] = useState<string>()
  useEffect(() => {
    const listen = ({ source, origin, data }: MessageEvent<{ type: string; code: string }>) => {
      if (origin === location.origin && source === phone.current?.contentWindow && data.type === 'vidimus-code')
        setCode(data.code)
    }
    addEventListener('message', listen)
    return () => removeEventListener('message', listen)
  }, [])
  return [code, () => setCode(undefined)]
}

/** The element asks the phone of the demo in place of a popup; true while it does. */
export function useAskedPhone(phone: RefObject<HTMLIFrameElement | null>): boolean {
  const [isAsked, setIsAsked] = useState(false)
  useEffect(() => {
    const askSandbox = async (_: string, prepared: Prepared | Promise<Prepared | undefined>, signal?: AbortSignal) => {
      const frame = phone.current
      if (!frame?.contentWindow) throw new Error('the demo has a phone')
      setIsAsked(true)
      frame.src = serviceUrl('sandbox?dc')
      try {
        return await askWindow(frame.contentWindow, location.origin, prepared, signal)
      } finally {
        frame.src = serviceUrl('sandbox')
        setIsAsked(false)
      }
    }
    Object.assign(customElements.get('vidimus-verify') ?? {}, { askSandbox })
  }, [])
  return isAsked
}
