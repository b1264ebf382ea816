import { useState } from 'preact/hooks'
import type { ApiKey, MintedKey as MintedKeyWire, RollKey } from '../../../../dashboard/developers/keys/schema.ts'
import { Check } from '../../../kit/field.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { useData } from '../../data.ts'
import { useFormat } from '../../format.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { MintedKey } from './minted-key.tsx'
import { useKeysWords } from './words.ts'

type OldExpires = (typeof RollKey.static)['old_expires']
type Minted = typeof MintedKeyWire.static

const CHOICES: readonly OldExpires[] = ['24h', '1h', '7d', 'now']

/** The label, or the beginning of a key that has none. */
export const nameOf = ({ label, prefix }: ApiKey): string => label || prefix

export function RollKeyDialog({ old, onClose }: { old: ApiKey; onClose: () => void }) {
  const words = useKeysWords()
  const { call } = useSession()
  const { inTenant } = usePlace()
  const [oldExpires, setOldExpires] = useState<OldExpires>('24h')
  const [minted, setMinted] = useState<Minted>()
  const roll = async () =>
    setMinted(await call<Minted>(inTenant(`keys/${old.id}/roll`), { method: 'POST', body: { old_expires: oldExpires } }))
  return (
    <FormDialog
      title={minted ? words.mintedTitle : words.rollTitle(nameOf(old))}
      intro={words.rollMore}
      verb={words.rollDo}
      onSubmit={roll}
      onClose={onClose}
      result={
        minted && (
          <MintedKey minted={minted} onClose={onClose}>
            <OldKey id={old.id} isOver={oldExpires === 'now'} />
          </MintedKey>
        )
      }
    >
      <fieldset class="choices">
        <legend>{words.oldExpires}</legend>
        {CHOICES.map(each => (
          <Check
            key={each}
            group="old-expires"
            label={words.oldExpiries[each]}
            isChecked={oldExpires === each}
            onCheck={() => setOldExpires(each)}
          />
        ))}
      </fieldset>
    </FormDialog>
  )
}

/** The end of the old key, read from the service. */
function OldKey({ id, isOver }: { id: string; isOver: boolean }) {
  const words = useKeysWords()
  const { time } = useFormat()
  const { inTenant } = usePlace()
  const keys = useData<{ data: ApiKey[] }>(inTenant('keys'))
  const until = keys.value?.data.find(key => key.id === id)?.expires_at
  if (isOver) return <Notice>{words.oldEnded}</Notice>
  return until ? <Notice>{words.oldUntil(time(until))}</Notice> : null
}
