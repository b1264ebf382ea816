import { useEffect, useState } from 'preact/hooks'
import { Button, LinkButton } from '../kit/button.tsx'
import { ApiFailure, callApi } from '../shared/api.ts'
import { BASE } from '../shared/base.ts'
import { Page } from './page.tsx'
import { useLoginWords } from './words.ts'

type Step = 'returning' | 'lost' | 'failed' | { location: string }

/** Hands in the response code, and goes back to the program. Browsers open an app from a tap only. */
export function Return({ code }: { code: string | undefined }) {
  const words = useLoginWords()
  const [step, setStep] = useState<Step>('returning')
  const [tries, setTries] = useState(0)
  useEffect(() => {
    setStep('returning')
    handIn(code).then(setStep)
  }, [tries])
  useEffect(() => {
    if (typeof step === 'object' && /^https?:/.test(step.location)) location.replace(step.location)
  }, [step])
  if (step === 'lost')
    return (
      <Page seal="open" title={words.lost}>
        <p class="secondary">{words.lostMore}</p>
      </Page>
    )
  if (step === 'failed')
    return (
      <Page seal="open" title={words.failed}>
        <p class="secondary">{words.failedMore}</p>
        <Button kind="primary" onClick={() => setTries(tries + 1)}>
          {words.again}
        </Button>
      </Page>
    )
  return (
    <Page seal="busy" title={words.returning}>
      <p class="secondary">{words.returningMore}</p>
      {typeof step === 'object' && (
        <LinkButton kind="primary" href={step.location}>
          {words.goOn}
        </LinkButton>
      )}
    </Page>
  )
}

async function handIn(code: string | undefined): Promise<Step> {
  const path = location.pathname.slice(BASE.pathname.length)
  try {
    return await callApi<{ location: string }>(path, { method: 'POST', body: code === undefined ? {} : { response_code: code } })
  } catch (error) {
    return error instanceof ApiFailure && error.status < 500 ? 'lost' : 'failed'
  }
}
