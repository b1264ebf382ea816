import { useContext, useEffect, useRef } from 'preact/hooks'
import { Headline } from './headline.ts'

type Props = { text: string /** Announced instead of the text. */; problem?: string }

/** Read out once: by taking the focus if nothing else has it, else by an announcement. */
export function Heading({ text, problem }: Props) {
  const tell = useContext(Headline)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (problem) return tell({ text: problem, isAloud: true })
    const isFree = isFocusFree()
    // No scrolling: the customer must see the code.
    if (isFree) heading.current?.focus({ preventScroll: true })
    tell({ text, isAloud: !isFree })
  }, [text, problem])
  // A new element for a new text: a heading that has the focus already would not be read again.
  return (
    <h1 key={text} ref={heading} tabIndex={-1}>
      {text}
    </h1>
  )
}

/** False in a frame without the focus: it must not take it from the page around. */
const isFocusFree = (): boolean => document.activeElement === document.body && (parent === window || document.hasFocus())
