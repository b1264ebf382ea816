import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'

/** Takes what the screen says in one line. */
export const Headline = createContext<(text: string) => void>(() => {})

/** Says what this view is about: aloud, and in the title. */
export function useHeadline(text: string): void {
  const tell = useContext(Headline)
  useEffect(() => tell(text), [text])
}
