import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'

export type Told = { text: string; isAloud: boolean }

/** Takes what the screen says in one line. */
export const Headline = createContext<(told: Told) => void>(() => {})

/** Says what this view is about, where its heading alone would not: aloud, and in the title. */
export function useHeadline(text: string): void {
  const tell = useContext(Headline)
  useEffect(() => tell({ text, isAloud: true }), [text])
}
