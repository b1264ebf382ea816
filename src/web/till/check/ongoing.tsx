import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { HostedVerification, Verification } from '../../../verifications/schema.ts'
import { useSession } from '../../hosted/session.ts'
import { useLeftMs } from '../../shared/time.tsx'
import { report } from '../connection.ts'
import type { Check } from '../memory.ts'
import { useTillWords } from '../words.ts'
import { Asking } from './asking.tsx'
import { endCheck } from './check.ts'
import { Comparing } from './comparing.tsx'
import { Stopping } from './stopping.tsx'
import type { TillTemplate } from './use-verdict.ts'
import { StoppedElsewhere, TimeUp, VerdictOf } from './verdict.tsx'
import { Waiting } from './waiting.tsx'

type Props = {
  check: Check
  title: string
  template: TillTemplate | undefined
  /** When this page was opened. */
  openedAt: number
}

/** A check from its start to its verdict. */
export function Ongoing({ check, title, template, openedAt }: Props): ComponentChildren {
  const words = useTillWords()
  const { known, isConnected, aheadMs } = useSession(check.id)
  const [decided, setDecided] = useState<Verification>()
  const isFollowed = useRef(false)
  useEffect(() => {
    if (check.id !== undefined) report(isConnected)
  }, [check.id, isConnected])
  useEffect(() => {
    // Erased by the merchant.
    if (known === 'gone') endCheck(check)
  }, [known])
  if (check.isStopping) return <Stopping check={check} title={title} />
  if (typeof known === 'string') return <Waiting check={check} title={title} line={words.starting} />
  if (known.status === 'pending') isFollowed.current = true
  const seen = { openedAt, isFollowed: isFollowed.current }
  const verdict = <VerdictOf {...{ check, title, template, aheadMs, decided, ...seen }} />
  if (decided) return verdict
  if (known.reason === 'cancelled') return <StoppedElsewhere check={check} />
  switch (known.status) {
    case 'pending':
      return known.compares ? (
        <Comparing check={check} title={title} aheadMs={aheadMs} onDecided={setDecided} />
      ) : (
        <Pending check={check} title={title} template={template} asked={known} aheadMs={aheadMs} />
      )
    case 'expired':
      return <TimeUp check={check} endedAt={Date.parse(known.expires_at) - aheadMs} />
    default:
      return verdict
  }
}

type PendingProps = Pick<Props, 'check' | 'title' | 'template'> & { asked: HostedVerification; aheadMs: number }

/** Hides the code once the time is up, even before the server says so. */
function Pending({ check, title, template, asked, aheadMs }: PendingProps) {
  const words = useTillWords()
  const leftMs = useLeftMs(asked, aheadMs)
  if (leftMs === 0) return <Waiting check={check} title={title} line={words.overdue} />
  return <Asking {...{ check, title, template, asked, leftMs, aheadMs }} />
}
