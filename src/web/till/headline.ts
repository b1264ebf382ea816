import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'

export type HeadlineText = { text: string; isAloud: boolean }

/** Receives the headline of the current screen. */
export const Headline = createContext<(told: HeadlineText) => void>(() => {})

/** Sets the page title and announces the text, where the heading alone would not be read out. */
export function useHeadline(text: string): void {
  const tell = useContext(Headline)
  useEffect(() => tell({ text, isAloud: true }), [text])
}
