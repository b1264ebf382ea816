import { useEffect, useState } from 'preact/hooks'
import type { DemoClub } from '../../demo/schema.ts'
import { Button, LinkButton } from '../kit/button.tsx'
import { LanguageSwitch } from '../kit/language-switch.tsx'
import { Notice } from '../kit/notice.tsx'
import { Wordmark } from '../kit/seal.tsx'
import { callApi } from '../shared/api.ts'
import { serviceUrl } from '../shared/base.ts'
import { type Learned, learn, leaveToLogIn, takeReturn } from '../shared/code-flow.ts'
import { useDemoWords } from './words.ts'

const returned = takeReturn()

/** A page of somebody else, where one logs in with a wallet. It knows OpenID Connect, and nothing of wallets. */
export function Club() {
  const words = useDemoWords().club
  const [learned, setLearned] = useState<Learned>()
  const [isBusy, setIsBusy] = useState(returned !== undefined)
  const refuse = (error: Error) => setLearned({ refusal: error.message })
  useEffect(() => {
    document.title = words.title
  }, [words])
  useEffect(() => {
    if (returned)
      learn(returned)
        .then(setLearned, refuse)
        .finally(() => setIsBusy(false))
  }, [])
  const logIn = async () => {
    setIsBusy(true)
    const club = await callApi<DemoClub>('demo/club', { method: 'POST', body: {} })
    await leaveToLogIn(club, new URL(serviceUrl('demo'), location.href).href)
  }
  const isIn = learned !== undefined && 'claims' in learned
  return (
    <div class="demo club stack">
      <header class="top row between">
        <Wordmark />
        <LanguageSwitch />
      </header>
      <main class="card stack">
        <h1>{words.title}</h1>
        <p>{isIn ? words.welcome : words.more}</p>
        {learned && 'refusal' in learned && <Notice tone="no">{words.refused(learned.refusal)}</Notice>}
        {isIn && (
          <>
            <h2 class="large">{words.learned}</h2>
            <pre class="raw">{JSON.stringify(learned.claims, null, 2)}</pre>
          </>
        )}
        <div class="row">
          {!isIn && (
            <Button kind="primary" busy={isBusy} onClick={() => logIn().catch(refuse)}>
              {words.logIn}
            </Button>
          )}
          <LinkButton href={serviceUrl('demo')}>{words.back}</LinkButton>
        </div>
      </main>
    </div>
  )
}
