import { useState } from 'preact/hooks'
import type { ApiKey, CreateKey, MintedKey as MintedKeyWire } from '../../../../dashboard/developers/keys/schema.ts'
import { Check, Field, Select } from '../../../kit/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { MintedKey } from './minted-key.tsx'
import { useKeysWords } from './words.ts'

type Scope = CreateKey['scopes'][number]
type Minted = typeof MintedKeyWire.static

const SCOPES: readonly Scope[] = ['verifications:create', 'verifications:read', 'devices:manage', 'verifications:delete']
/** What most software needs; more is ticked on purpose. */
const TICKED: readonly Scope[] = ['verifications:create', 'verifications:read']
const EXPIRIES = ['none', 30, 90, 365] as const

export function CreateKeyDialog({ onClose }: { onClose: (created?: ApiKey) => void }) {
  const words = useKeysWords()
  const all = useDashboardWords()
  const { call } = useSession()
  const place = usePlace()
  const [environment, setEnvironment] = useState(place.environment)
  const [label, setLabel] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(TICKED)
  const [expiry, setExpiry] = useState<(typeof EXPIRIES)[number]>('none')
  const [minted, setMinted] = useState<Minted>()
  const close = () => onClose(minted?.api_key)
  const create = async () => {
    const body = { environment, scopes, label: label.trim(), expires_days: expiry === 'none' ? null : expiry }
    setMinted(await call<Minted>(place.inTenant('keys'), { method: 'POST', body }))
  }
  return (
    <FormDialog
      title={minted ? words.mintedTitle : words.createTitle}
      verb={words.create}
      isReady={scopes.length > 0}
      onSubmit={create}
      onClose={close}
      result={minted && <MintedKey minted={minted} onClose={close} />}
    >
      <Field
        label={words.label}
        hint={words.labelHint}
        autocomplete="off"
        autofocus
        maxLength={100}
        value={label}
        onText={setLabel}
      />
      <fieldset class="choices">
        <legend>{all.environment}</legend>
        {(['test', 'live'] as const).map(each => (
          <Check
            key={each}
            group="key-environment"
            label={all.environments[each]}
            isChecked={environment === each}
            onCheck={() => setEnvironment(each)}
          />
        ))}
      </fieldset>
      <fieldset class="choices">
        <legend>{words.scopesLabel}</legend>
        {SCOPES.map(scope => (
          <Check
            key={scope}
            label={words.scopes[scope].title}
            hint={words.scopes[scope].hint}
            isChecked={scopes.includes(scope)}
            onCheck={isIn => setScopes(SCOPES.filter(each => (each === scope ? isIn : scopes.includes(each))))}
          />
        ))}
      </fieldset>
      <Select
        label={words.expiry}
        value={expiry}
        options={EXPIRIES.map(each => [each, words.expiries[each]])}
        onChoose={setExpiry}
      />
      {scopes.length === 0 && <p class="hint">{words.scopesMissing}</p>}
    </FormDialog>
  )
}
