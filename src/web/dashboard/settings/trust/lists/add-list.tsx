import { useState } from 'preact/hooks'
import type { CheckedList, TrustPreset, TrustSource } from '../../../../../dashboard/settings/trust/schema.ts'
import { base64Of } from '../../../parts/file-button.tsx'
import { FormDialog } from '../../../parts/form-dialog.tsx'
import { usePlace, useSession } from '../../../session.tsx'
import { useTrustWords } from '../words.ts'
import { type Choice, ChooseList, isHttps } from './add-list-choose.tsx'
import { ConfirmSigner } from './add-list-confirm.tsx'
import { type Grants, SeeList } from './add-list-see.tsx'
import { LIST_MS_MAX } from './list-limits.ts'

type Props = {
  presets: readonly TrustPreset[]
  /** The name of the preset to begin with. */
  wanted: string | undefined
  onClose: () => void
  onAdded: (source: TrustSource) => void
}

/** Three steps: choose a list, see what it is, confirm its signer. */
export function AddListDialog({ presets, wanted, onClose, onAdded }: Props) {
  const words = useTrustWords().addList
  const { call } = useSession()
  const { environment } = usePlace()
  const [step, setStep] = useState<0 | 1 | 2>(0)
  const [choice, setChoice] = useState<Choice>({
    by: (presets.find(({ name }) => name === wanted) ?? presets[0])?.name ?? 'address',
    address: '',
    file: undefined,
  })
  const [checked, setChecked] = useState<CheckedList>()
  const [grants, setGrants] = useState<Grants>({ types: '', serviceType: '' })
  const [label, setLabel] = useState('')
  const [ticks, setTicks] = useState({ compared: false, terms: false })
  const [isTried, setIsTried] = useState(false)
  const preset = presets.find(({ name }) => name === choice.by)
  const list = checked?.list ?? undefined
  const types = grants.types.split(',').flatMap(type => type.trim() || [])
  const needsTypes = list !== undefined && list.types.length === 0 && preset === undefined

  const look = async () => {
    setIsTried(true)
    if (!isComplete(choice)) return
    setChecked(undefined)
    const body = await bodyOf(choice)
    const result = await call<CheckedList>('trust/sources/check', { method: 'POST', body, timeoutMs: LIST_MS_MAX })
    setChecked(result)
    if (result.list) go(1)
  }
  const go = (next: 0 | 1 | 2) => {
    setIsTried(false)
    setStep(next)
  }
  const see = async () => {
    setIsTried(true)
    if (!needsTypes || types.length > 0) go(2)
  }
  const add = async () => {
    const body = {
      environment,
      ...(await bodyOf(choice)),
      ...(preset === undefined && list && { kind: list.kind }),
      signers: [list?.signer.fingerprint],
      ...(label.trim() && { label: label.trim() }),
      ...(needsTypes && { types }),
      ...(needsTypes && grants.serviceType.trim() && { service_type: grants.serviceType.trim() }),
      ...(ticks.terms && { terms_read: true }),
    }
    onAdded(await call<TrustSource>('trust/sources', { method: 'POST', body, timeoutMs: LIST_MS_MAX }))
  }
  const isConfirmed = ticks.compared && (ticks.terms || !preset?.terms)
  return (
    <FormDialog
      title={words.title}
      verb={[words.look, words.next, words.add][step]!}
      isReady={step < 2 || isConfirmed}
      onSubmit={[look, see, add][step]!}
      onBack={step === 0 ? undefined : () => go(step === 2 ? 1 : 0)}
      onClose={onClose}
    >
      {step === 0 && (
        <ChooseList
          {...{ presets, choice, isTried }}
          refused={checked?.refused ?? undefined}
          onChoose={chosen => {
            setChecked(undefined)
            setChoice(chosen)
          }}
        />
      )}
      {step === 1 && list && (
        <SeeList
          {...{ list, preset, grants }}
          onGrant={setGrants}
          asksTypes={needsTypes}
          isMissing={isTried && types.length === 0}
        />
      )}
      {step === 2 && list && (
        <ConfirmSigner
          fingerprint={list.signer.fingerprint}
          terms={preset?.terms}
          {...{ label, ticks }}
          onLabel={setLabel}
          onTick={setTicks}
        />
      )}
    </FormDialog>
  )
}

const isComplete = ({ by, address, file }: Choice): boolean => {
  if (by === 'address') return isHttps(address)
  return by !== 'file' || (file !== undefined && !file.isTooLarge)
}

async function bodyOf({ by, address, file }: Choice) {
  if (by === 'address') return { location: address.trim() }
  return by === 'file' ? { list: file ? await base64Of(file.content) : '' } : { preset: by }
}
