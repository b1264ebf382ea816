import { h } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../kit/button.tsx'
import { Notice } from '../kit/notice.tsx'
import { serviceUrl } from '../shared/base.ts'
import { useLanguage } from '../shared/language.ts'
import { redeem } from './online.ts'
import type { Story } from './story.ts'
import { useDemoWords } from './words.ts'

type Answered = { session: string; status: string; response_code?: string }

/** A shop's page with the element, as a customer sees it. */
export function Shop({ story: { online, data, step, buy } }: { story: Story }) {
  const { online: words, club } = useDemoWords()
  const language = useLanguage()
  const place = useRef<HTMLDivElement>(null)
  const [ended, setEnded] = useState<{ id: string; isOrdered: boolean }>()
  useEffect(() => {
    const key = data?.key ?? ''
    const listen = async ({ detail }: CustomEventInit<Answered>) => {
      const { session: id = '', response_code } = detail ?? {}
      // A real shop sends the code to its server, which has the key.
      const redeemed = response_code === undefined ? undefined : await redeem(key, id, response_code).catch(() => undefined)
      setEnded({ id, isOrdered: redeemed?.status === 'completed' })
    }
    const { current } = place
    current?.addEventListener('vidimus-answered', listen as EventListener)
    return () => current?.removeEventListener('vidimus-answered', listen as EventListener)
  }, [data?.key])
  const isOver = ended !== undefined && ended.id === online
  return (
    <div class="shop-view stack" ref={place}>
      <div class="row">
        <h3>{words.product}</h3>
        <span class="secondary">{words.price}</span>
      </div>
      {(online === undefined || isOver) && (
        <div>
          <Button kind={isOver ? 'plain' : 'primary'} disabled={step === 'begin'} onClick={buy}>
            {isOver ? words.again : words.buy}
          </Button>
        </div>
      )}
      {online !== undefined && !isOver && h('vidimus-verify', { key: online, session: online, lang: language, sandbox: '' })}
      {isOver && <Notice tone={ended.isOrdered ? 'ok' : 'no'}>{ended.isOrdered ? words.ordered : words.refused}</Notice>}
      <a class="touch" href={`${serviceUrl('demo')}?club`} target="_blank" rel="noopener">
        {club.open}
      </a>
    </div>
  )
}
