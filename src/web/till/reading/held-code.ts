import { useEffect } from 'preact/hooks'
import type { PhoneReader } from './use-reading.ts'

/** In a frame of the demo, the page around it holds the code of its phone to this till. */
export function useHeldCode({ reading, scan }: PhoneReader): void {
  const isFree = reading.step === 'off' || reading.step === 'scanning'
  useEffect(() => {
    if (self === top || !isFree) return
    const listen = ({ source, origin, data }: MessageEvent<{ type: string; code: string }>) => {
      if (source === parent && origin === location.origin && data.type === 'vidimus-code') scan(data.code)
    }
    addEventListener('message', listen)
    return () => removeEventListener('message', listen)
  }, [isFree])
}
