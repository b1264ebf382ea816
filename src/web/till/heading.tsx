import { useContext, useEffect, useRef } from 'preact/hooks'
import { Headline } from './headline.ts'

type Props = { text: string /** Said instead, as long as there is one. */; problem?: string }

/** What this screen is about. Where nothing else has the focus it takes it and is read out by that; otherwise it is said aloud, never both. */
export function Heading({ text, problem }: Props) {
  const tell = useContext(Headline)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (problem) return tell({ text: problem, isAloud: true })
    const isFree = isFocusFree()
    // The code must stay where the customer sees it.
    if (isFree) heading.current?.focus({ preventScroll: true })
    tell({ text, isAloud: !isFree })
  }, [text, problem])
  // Another text is another heading: one that has the focus already would not be read again.
  return (
    <h1 key={text} ref={heading} tabIndex={-1}>
      {text}
    </h1>
  )
}

/** In a frame of another page, only while somebody is in it: the focus would be taken from around it. */
const isFocusFree = (): boolean => document.activeElement === document.body && (parent === window || document.hasFocus())
