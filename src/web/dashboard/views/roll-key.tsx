import { useState } from 'preact/hooks'
import type { ApiKey, MintedKey as MintedKeyWire, RollKey } from '../../../dashboard/settings-schema.ts'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Check } from '../../shared/field.tsx'
import { useCommon } from '../../shared/language.tsx'
import { Notice } from '../../shared/notice.tsx'
import { useAction } from '../action.ts'
import { useData } from '../data.ts'
import { useFormat } from '../format.ts'
import { Problem } from '../problem.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { nameOf } from './keys.tsx'
import { MintedKey } from './minted-key.tsx'

type OldExpires = (typeof RollKey.static)['old_expires']
type Minted = typeof MintedKeyWire.static

const CHOICES: readonly OldExpires[] = ['24h', '1h', '7d', 'now']

export function RollKeyDialog({ old, onClose }: { old: ApiKey; onClose: () => void }) {
  const words = useDashboardWords().keys
  const common = useCommon()
  const { call } = useSession()
  const { inTenant } = usePlace()
  const [oldExpires, setOldExpires] = useState<OldExpires>('24h')
  const [minted, setMinted] = useState<Minted>()
  const roll = useAction(async () => {
    const path = inTenant(`keys/${old.id}/roll`)
    setMinted(await call<Minted>(path, { method: 'POST', body: { old_expires: oldExpires } }))
  })
  if (minted) {
    return (
      <Dialog title={words.mintedTitle} holds onClose={onClose}>
        <MintedKey minted={minted} onClose={onClose}>
          <OldKey id={old.id} isOver={oldExpires === 'now'} />
        </MintedKey>
      </Dialog>
    )
  }
  return (
    <Dialog title={words.rollTitle(nameOf(old))} onClose={onClose}>
      <form class="stack" onSubmit={roll.submit}>
        <p class="secondary">{words.rollMore}</p>
        <fieldset class="choices">
          <legend>{words.oldExpires}</legend>
          {CHOICES.map(each => (
            <Check
              key={each}
              type="radio"
              name="old-expires"
              label={words.oldExpiries[each]}
              checked={oldExpires === each}
              onChange={() => setOldExpires(each)}
            />
          ))}
        </fieldset>
        <Problem of={roll.problem} />
        <div class="row end">
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" busy={roll.isBusy}>
            {words.rollDo}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Until when the old one works, as the service says. */
function OldKey({ id, isOver }: { id: string; isOver: boolean }) {
  const words = useDashboardWords().keys
  const { time } = useFormat()
  const { inTenant } = usePlace()
  const keys = useData<{ data: ApiKey[] }>(inTenant('keys'))
  const until = keys.value?.data.find(key => key.id === id)?.expires_at
  if (isOver) return <Notice>{words.oldEnded}</Notice>
  return until ? <Notice>{words.oldUntil(time(until))}</Notice> : null
}
