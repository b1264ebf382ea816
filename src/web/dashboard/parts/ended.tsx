import { useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'

type Words = { show: (count: number) => string; hide: string }

/** The rows still in use, and a button that shows the others as well. */
export function useEnded<Row>(all: readonly Row[], isEnded: (row: Row) => boolean, words: Words) {
  const [isShown, setIsShown] = useState(false)
  const count = all.filter(isEnded).length
  return {
    rows: isShown ? all : all.filter(row => !isEnded(row)),
    toggle: count > 0 && (
      <div>
        <Button kind="quiet" onClick={() => setIsShown(!isShown)}>
          {isShown ? words.hide : words.show(count)}
        </Button>
      </div>
    ),
  }
}
