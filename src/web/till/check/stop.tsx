import { useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import type { Check } from '../memory.ts'
import { useKeys } from '../use-keys.ts'
import { useTillWords } from '../words.ts'
import { changeCheck, endCheck } from './check.ts'

/** Stopping needs a second tap once a customer was asked: an answer may be under way. */
export function Stop({ check, isAsked }: { check: Check; isAsked: boolean }) {
  const words = useTillWords()
  const [isOpen, setIsOpen] = useState(false)
  const stop = () => (isAsked ? setIsOpen(true) : endCheck(check))
  useKeys({ Escape: stop })
  return (
    <>
      <Button kind="plain" large onClick={stop}>
        {words.stop}
      </Button>
      {isOpen && (
        <Dialog title={words.stopTitle} onClose={() => setIsOpen(false)}>
          <div class="stack">
            <p>{words.stopWhy}</p>
            <Button kind="primary" large wide onClick={() => setIsOpen(false)}>
              {words.keepWaiting}
            </Button>
            <Button kind="danger" large wide onClick={() => changeCheck(check, { isStopping: true })}>
              {words.stop}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
