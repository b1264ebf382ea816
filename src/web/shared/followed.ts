import { useEffect, useState } from 'preact/hooks'

/** A value from outside the components, read again after each of the events. */
export function useFollowed<Value>(read: () => Value, ...events: readonly [target: EventTarget, name: string][]): Value {
  const [value, setValue] = useState(read)
  useEffect(() => {
    const follow = () => setValue(read)
    follow()
    for (const [target, name] of events) target.addEventListener(name, follow)
    return () => {
      for (const [target, name] of events) target.removeEventListener(name, follow)
    }
  }, [])
  return value
}
