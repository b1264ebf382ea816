import { Notice } from '../../kit/notice.tsx'
import type { Action } from '../action.ts'
import { useDashboardWords } from '../words.ts'
import { Problem } from './problem.tsx'

type Props = { action: Pick<Action<never[]>, 'problem' | 'isBusy'>; isSaved: boolean; sentence?: string }

/** The result of a form that stays on the page. */
export function Saved({ action, isSaved, sentence }: Props) {
  const words = useDashboardWords()
  return (
    <>
      <Problem of={action.problem} />
      <p role="status">{isSaved && !action.isBusy && <Notice tone="ok">{sentence ?? words.saved}</Notice>}</p>
    </>
  )
}
