import { useRef, useState } from 'preact/hooks'
import type { EmptiedTest, MadeExamples } from '../../../dashboard/verifications/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icons.tsx'
import { HAS_SANDBOX } from '../../shared/base.ts'
import { ConfirmButton } from '../parts/confirm.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useMayChange, usePlace, useSession } from '../session.tsx'
import { useVerificationsWords } from './words.ts'

type Props = { onDone: () => void }

/** Examples to look at, made by the service in steps; closing the dialog stops it after the step under way. */
export function FillTest({ onDone }: Props) {
  const words = useVerificationsWords()
  const { environment } = usePlace()
  const mayChange = useMayChange()
  const [isOpen, setIsOpen] = useState(false)
  if (environment !== 'test' || !mayChange || !HAS_SANDBOX) return null
  const close = () => {
    setIsOpen(false)
    onDone()
  }
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>
        <Icon name="plus" />
        {words.fill}
      </Button>
      {isOpen && <FillDialog onClose={close} />}
    </>
  )
}

function FillDialog({ onClose }: { onClose: () => void }) {
  const words = useVerificationsWords()
  const { call } = useSession()
  const { inTenant } = usePlace()
  const [progress, setProgress] = useState<MadeExamples>()
  const isStopped = useRef(false)
  const close = () => {
    isStopped.current = true
    onClose()
  }
  const fill = async () => {
    for (let step: MadeExamples | undefined; !isStopped.current; ) {
      const body = step ? { run: step.run, from: step.made } : { from: 0 }
      step = await call<MadeExamples>(inTenant('verifications/examples'), { method: 'POST', body })
      setProgress(step)
      if (step.made >= step.of) return onClose()
    }
  }
  return (
    <FormDialog
      title={words.fill}
      intro={words.fillMore}
      verb={words.fillDo}
      dismiss={progress && words.fillStop}
      onSubmit={fill}
      onClose={close}
    >
      {progress && <Progress done={progress.made} of={progress.of} />}
    </FormDialog>
  )
}

/** For owners: erases every test session of the shop, some at a time. */
export function EmptyTest({ onDone }: Props) {
  const words = useVerificationsWords()
  const { session, call } = useSession()
  const { environment, inTenant } = usePlace()
  const [left, setLeft] = useState<{ done: number; of: number }>()
  if (environment !== 'test' || !session.user.is_owner) return null
  const empty = async () => {
    try {
      for (let done = 0; ; ) {
        const body = { word: 'empty' }
        const step = await call<EmptiedTest>(inTenant('verifications/empty'), { method: 'POST', body })
        done += step.erased
        setLeft({ done, of: done + step.remaining })
        if (step.remaining === 0) return
      }
    } finally {
      setLeft(undefined)
      onDone()
    }
  }
  return (
    <ConfirmButton
      kind="danger"
      icon="trash"
      title={words.emptyTestTitle}
      name={words.emptyTestWord}
      verb={words.emptyTest}
      onConfirm={empty}
    >
      {words.emptyTestMore}
      {left && <Progress {...left} />}
    </ConfirmButton>
  )
}

function Progress({ done, of }: { done: number; of: number }) {
  const words = useVerificationsWords()
  return (
    <span class="line tight middle" role="status">
      <progress class="grow" max={of} value={done} aria-label={words.progress(done, of)} />
      <span>{words.progress(done, of)}</span>
    </span>
  )
}
