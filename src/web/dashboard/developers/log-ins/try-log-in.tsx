import { useEffect, useState } from 'preact/hooks'
import type { CreateClient } from '../../../../dashboard/developers/log-ins/schema.ts'
import type { Client } from '../../../../oidc/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Icon } from '../../../kit/icons.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { serviceUrl } from '../../../shared/base.ts'
import { type Learned, learn, leaveToLogIn, takeReturn } from '../../../shared/code-flow.ts'
import { useAction } from '../../action.ts'
import { Json } from '../../parts/json.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useMayChange, usePlace, useSession } from '../../session.tsx'
import { useLogInsWords } from './words.ts'

const TEMPLATE = 'age_over_18'
const NAME = 'Try it'

const redirectUri = () => new URL(serviceUrl('dashboard/log-ins'), location.href).href

/** A log-in, as a program sees it. */
export function TryLogIn({ clients, onDone }: { clients: readonly Client[] | undefined; onDone: () => void }) {
  const words = useLogInsWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const mayChange = useMayChange()
  const { learned, isBusy } = useReturn()
  const begin = useAction(async () => {
    const known = clients?.find(({ auth, redirect_uris }) => auth === 'none' && redirect_uris.includes(redirectUri()))
    const body: CreateClient = { environment, name: NAME, redirect_uris: [redirectUri()], templates: [TEMPLATE], auth: 'none' }
    const client = known ?? (await call<Client>(inTenant('clients'), { method: 'POST', body }))
    onDone()
    await leaveToLogIn(client, redirectUri())
  })
  if (environment !== 'test' || !mayChange) return null
  return (
    <section class="stack">
      <div class="row">
        <Button busy={begin.isBusy || isBusy} onClick={() => begin.run()}>
          <Icon name="wallet" />
          {isBusy ? words.tryBusy : words.tryIt}
        </Button>
      </div>
      <Problem of={begin.problem} />
      {learned && 'refusal' in learned && <Notice tone="no">{words.tryRefused(learned.refusal)}</Notice>}
      {learned && 'claims' in learned && (
        <article class="card stack">
          <h2>{words.tryTitle}</h2>
          <p class="secondary">{words.tryMore}</p>
          <Json title={words.idToken} value={learned.idToken} />
          <Json title={words.claims} value={learned.claims} />
        </article>
      )}
    </section>
  )
}

/** Read before the page is drawn, which begins anew where the address names another shop. */
let returned = takeReturn()

/** Redeems the code that the browser came back with. */
function useReturn(): { learned?: Learned; isBusy: boolean } {
  const [known, setKnown] = useState<{ learned?: Learned; isBusy: boolean }>({ isBusy: false })
  useEffect(() => {
    if (!returned) return
    const answer = returned
    returned = undefined
    setKnown({ isBusy: true })
    learn(answer).then(
      learned => setKnown({ learned, isBusy: false }),
      error => setKnown({ learned: { refusal: String(error.message) }, isBusy: false }),
    )
  }, [])
  return known
}
