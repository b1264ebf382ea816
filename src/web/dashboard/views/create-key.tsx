import { useState } from 'preact/hooks'
import type { ApiKey, CreateKey, MintedKey as MintedKeyWire } from '../../../dashboard/settings-schema.ts'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Check, Field, Select } from '../../shared/field.tsx'
import { useCommon } from '../../shared/language.tsx'
import { useAction } from '../action.ts'
import { Problem } from '../problem.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { MintedKey } from './minted-key.tsx'

type Scope = CreateKey['scopes'][number]

const SCOPES: readonly Scope[] = ['verifications:create', 'verifications:read', 'devices:manage', 'verifications:delete']
/** What cannot be undone is asked for, not given by the way. */
const TICKED = SCOPES.filter(scope => scope !== 'verifications:delete')
const EXPIRIES = ['none', 30, 90, 365] as const

export function CreateKeyDialog({ onClose }: { onClose: (created?: ApiKey) => void }) {
  const words = useDashboardWords().keys
  const [minted, setMinted] = useState<typeof MintedKeyWire.static>()
  const close = () => onClose(minted?.api_key)
  return (
    <Dialog title={minted ? words.mintedTitle : words.createTitle} holds={minted !== undefined} onClose={close}>
      {minted ? <MintedKey minted={minted} onClose={close} /> : <Form onMinted={setMinted} onClose={close} />}
    </Dialog>
  )
}

function Form({ onMinted, onClose }: { onMinted: (minted: typeof MintedKeyWire.static) => void; onClose: () => void }) {
  const words = useDashboardWords()
  const common = useCommon()
  const { call } = useSession()
  const place = usePlace()
  const [environment, setEnvironment] = useState(place.environment)
  const [label, setLabel] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(TICKED)
  const [expiry, setExpiry] = useState<(typeof EXPIRIES)[number]>('none')
  const create = useAction(async () => {
    const body = { environment, scopes, label: label.trim(), expires_days: expiry === 'none' ? null : expiry }
    onMinted(await call<typeof MintedKeyWire.static>(place.inTenant('keys'), { method: 'POST', body }))
  })
  return (
    <form class="stack" onSubmit={create.submit}>
      <Field
        label={words.keys.label}
        hint={words.keys.labelHint}
        autocomplete="off"
        autofocus
        maxLength={100}
        value={label}
        onInput={event => setLabel(event.currentTarget.value)}
      />
      <fieldset class="choices">
        <legend>{words.environment}</legend>
        {(['test', 'live'] as const).map(each => (
          <Check
            key={each}
            type="radio"
            name="key-environment"
            label={words.environments[each]}
            checked={environment === each}
            onChange={() => setEnvironment(each)}
          />
        ))}
      </fieldset>
      <fieldset class="choices">
        <legend>{words.keys.scopesLabel}</legend>
        {SCOPES.map(scope => (
          <Check
            key={scope}
            label={words.keys.scopes[scope].title}
            hint={words.keys.scopes[scope].hint}
            checked={scopes.includes(scope)}
            onChange={event => setScopes(withOrWithout(scopes, scope, event.currentTarget.checked))}
          />
        ))}
      </fieldset>
      <Select
        label={words.keys.expiry}
        value={expiry}
        onChange={event => setExpiry(EXPIRIES.find(each => String(each) === event.currentTarget.value) ?? 'none')}
      >
        {EXPIRIES.map(each => (
          <option key={each} value={each}>
            {words.keys.expiries[each]}
          </option>
        ))}
      </Select>
      {scopes.length === 0 && <p class="hint">{words.keys.scopesMissing}</p>}
      <Problem of={create.problem} />
      <div class="row end">
        <Button onClick={onClose}>{common.cancel}</Button>
        <Button kind="primary" type="submit" busy={create.isBusy} disabled={scopes.length === 0}>
          {words.keys.create}
        </Button>
      </div>
    </form>
  )
}

/** In the order they are listed. */
const withOrWithout = (scopes: readonly Scope[], scope: Scope, isIn: boolean): Scope[] =>
  SCOPES.filter(each => (each === scope ? isIn : scopes.includes(each)))
