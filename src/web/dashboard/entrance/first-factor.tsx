import type { ComponentChildren } from 'preact'
import type { Security } from '../../../people/security-schema.ts'
import { Button } from '../../kit/button.tsx'
import { useAction } from '../action.ts'
import { useData } from '../data.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import { useSession } from '../session.tsx'
import { Factors } from '../settings/security/factors.tsx'
import { useSecurityWords } from '../settings/security/words.ts'
import { useDashboardWords } from '../words.ts'
import { EntranceFrame } from './entrance-frame.tsx'

/** Nothing works before the second factor is set up where owners require one. */
export function FirstFactor({ children }: { children: ComponentChildren }) {
  const { session } = useSession()
  return session.needs_second_factor ? <SetUpFactor /> : children
}

function SetUpFactor() {
  const words = useSecurityWords()
  const all = useDashboardWords()
  const { leave, renew } = useSession()
  const data = useData<Security>('security')
  const goOn = useAction(() => renew())
  const logOut = useAction(() => leave('POST', 'logout'))
  return (
    <EntranceFrame title={words.needed}>
      <p class="secondary">{words.neededMore}</p>
      <Loaded data={data}>{security => <Factors security={security} onChange={data.set} onAdded={() => goOn.run()} />}</Loaded>
      <Problem of={goOn.problem} />
      <div class="row">
        <Button kind="quiet" onClick={() => logOut.run()}>
          {all.logOut}
        </Button>
      </div>
    </EntranceFrame>
  )
}
