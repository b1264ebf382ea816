import { Button } from '../../kit/button.tsx'
import type { Check } from '../memory.ts'
import { useTillWords } from '../words.ts'
import { changeCheck } from './check.ts'

const SLOW_MS = 60_000

/** For a customer whose phone is empty, has no network or no wallet. An answer that comes first is shown all the same. */
export function NoWallet({ check, waitedMs }: { check: Check; waitedMs: number }) {
  const words = useTillWords()
  return (
    <div class="no-wallet stack tight centred" role="status">
      {waitedMs >= SLOW_MS && (
        <>
          <p>{words.noWallet}</p>
          <Button kind="plain" large onClick={() => changeCheck(check, { isStopping: true })}>
            {words.endWithout}
          </Button>
        </>
      )}
    </div>
  )
}
