import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Notice } from '../../kit/notice.tsx'
import type { Digital } from '../../shared/digital.ts'
import { useTillWords } from '../words.ts'

/** The wallet call of this browser, where it has one: its dialog has a code of its own and finds phones nearby. */
export function Offer({ digital: { offer, step, note, askWallet } }: { digital: Digital }) {
  const words = useTillWords()
  const again = useRef<HTMLButtonElement>(null)
  // The dialog may leave the focus nowhere.
  useEffect(() => {
    if (note) again.current?.focus({ preventScroll: true })
  }, [note])
  return (
    <>
      {note && (
        <Notice tone={note === 'not_delivered' || note === 'unreadable' ? 'wait' : 'neutral'} alert>
          {words.digitalNotes[note]}
        </Notice>
      )}
      {offer !== 'none' && (
        <Button ref={again} large wide busy={offer === 'preparing' || step !== 'idle'} onClick={askWallet}>
          {step === 'idle' && <Icon name="wallet" />}
          {words.digital[step]}
        </Button>
      )}
    </>
  )
}
